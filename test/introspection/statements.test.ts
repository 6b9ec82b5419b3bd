import { startFilled } from "./_filled.ts";
import { questions } from "./_questions.ts";

questions(startFilled);
