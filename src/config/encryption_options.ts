import { optionalText } from "./kinds.ts";
import { option } from "./option.ts";

/** Characters of a key, at least and at most. Random ones: 32 of base64 are 192 bits. */
const KEY = /^(?:|[\x21-\x7e]{32,256})$/;

export const KEY_EXPECTED = "a key of 32 to 256 visible ASCII characters";

/** Whether a text can be the key of a data folder: see `KEY_EXPECTED`. */
export function isEncryptionKey(text: string): boolean {
  return text !== "" && KEY.test(text);
}

/** Settings of the encryption of the database files (docs/security.md#encryption-of-the-data-folder). */
export const encryptionOptions = {
  "storage.encryption-key": option(optionalText(`${KEY_EXPECTED}, or nothing`, KEY), "", {
    doc: "The key of the database files in `base-dir`, for the environment or the config file: " +
      "command lines can be read by others. Empty: they are not encrypted.",
    secret: true,
    isFlag: false,
  }),
  "storage.encryption-key-file": option(optionalText("the path of a file"), "", {
    doc: "A file with that key alone. Read at the start.",
  }),
} as const;
