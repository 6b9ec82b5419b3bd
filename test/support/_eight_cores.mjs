// Loaded into a server by `--import`: a machine of eight cores with 64 GiB.
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import process from "node:process";

os.availableParallelism = () => 8;
os.totalmem = () => 64 * 1024 ** 3;
process.constrainedMemory = () => 0;
syncBuiltinESMExports();
