import { startFilled } from "./_filled.ts";
import { journals } from "./_journals.ts";

journals(startFilled);
