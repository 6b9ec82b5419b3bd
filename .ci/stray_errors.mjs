// A reporter of vitest: writes down the errors that no test caught, which the report as JSON leaves out.
// `STRAY_ERRORS` names the file. Each error has the file of tests during which it came, if one is known.
import { writeFileSync } from "node:fs";
import process from "node:process";

export default class StrayErrors {
  onTestRunEnd(_modules, errors) {
    const stray = errors.map((error) => ({ file: error.VITEST_TEST_PATH, message: error.message }));
    writeFileSync(process.env.STRAY_ERRORS, JSON.stringify(stray));
  }
}
