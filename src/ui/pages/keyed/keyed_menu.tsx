import { useServices } from "../../data/catalog.ts";
import { filterLink } from "../../data/filter_link.ts";
import { callLink } from "../../data/objects.ts";
import { link, linkWith } from "../../state/router.ts";
import { Menu } from "../../widgets/menu.tsx";
import { HANDLERS_MAX } from "./calls.tsx";
import { type Keyed, wholeStateOf } from "./statements.ts";

/** Where else a key leads, and the handlers that have no link beside it. */
export function KeyedMenu({ keyed }: { readonly keyed: Keyed }) {
  const { service, key, scope } = keyed;
  const { data } = useServices();
  const handlers = data?.services.find(({ name }) => name === service)?.handlers ?? [];
  const others = handlers.slice(HANDLERS_MAX).map(({ name: call }) => ({
    label: `Call ${call}`,
    to: callLink(service, { call, key, scope }),
  }));
  return (
    <Menu
      label="More actions"
      items={[
        ...others,
        { label: "Its invocations", to: filterLink({ service, key }) },
        { label: "Its state in SQL", to: linkWith(link("sql"), { q: wholeStateOf(keyed).text }) },
      ]}
    />
  );
}
