// Imported by a program, at whose end it prints whether V8 uses the compiler Maglev. Needs
// `--allow-natives-syntax`.
import process from "node:process";

const isEnabled = new Function("return %IsMaglevEnabled()");
process.once("exit", () => process.stdout.write(`Maglev: ${isEnabled()}\n`));
