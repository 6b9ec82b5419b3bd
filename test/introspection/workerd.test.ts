import { startFilled } from "./_filled.ts";
import { journals } from "./_journals.ts";
import { questions } from "./_questions.ts";

const filled = startFilled("workerd");
questions(() => filled, { isHalfDuplex: true });
journals(() => filled);
