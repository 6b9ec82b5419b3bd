import { render } from "preact";
import { startHints } from "./data/hints.ts";
import { startClock, startLive } from "./data/live.ts";
import { startPolling } from "./data/resource.ts";
import { App, connect } from "./shell/app.tsx";
import { startPage } from "./shell/outlet.tsx";
import { startKeys } from "./state/keys.ts";
import { startRouter } from "./state/router.ts";
import { startSettings } from "./state/settings.ts";

startSettings();
startLive();
startRouter();
void connect();
startKeys();
startClock();
startPolling();
startHints();
void startPage().then(() => render(<App />, document.getElementById("app")!));
