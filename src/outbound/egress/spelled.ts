import { IpAddress } from "./ip_address.ts";

/** Four numbers in a row, with dots or dashes: within `a.1.2.3.4.b` there are several. */
const QUADS = /(?<=^|[.-])(?=(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?:$|[.-]))/g;
const HEXADECIMAL = /^[0-9a-f]{8}$/;

/**
 * The addresses that a host name spells: services of wildcard DNS resolve `169.254.169.254.example`,
 * `169-254-169-254.example`, `a9fea9fe.example` and `fe80--1.example` to them. `name`: in lower case.
 */
export function spelledAddresses(name: string): IpAddress[] {
  const quads = [...name.matchAll(QUADS)].map(([, ...bytes]) => bytes.map(Number).join("."));
  const others = name.split(".").flatMap((label) => {
    const bytes = label.split("-").filter((part) => HEXADECIMAL.test(part)).map(quadOf);
    return [...bytes, ...(label.includes("--") ? [label.replaceAll("-", ":")] : [])];
  });
  return [...quads, ...others].flatMap((text) => IpAddress.parse(text) ?? []);
}

function quadOf(digits: string): string {
  return (digits.match(/../g) ?? []).map((byte) => parseInt(byte, 16)).join(".");
}
