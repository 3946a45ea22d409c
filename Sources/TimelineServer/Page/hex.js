// Bytes as a hex dump, in the layout of `hexdump -C`.

const two = (byte) => byte.toString(16).padStart(2, "0");

export function hexLine(bytes, start) {
  const row = [...bytes.subarray(start, start + 16)];
  const digits = row.map(two);
  const left = digits.slice(0, 8).join(" ").padEnd(23);
  const right = digits.slice(8).join(" ").padEnd(23);
  const letters = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
  return `${start.toString(16).padStart(8, "0")}  ${left}  ${right}  ${letters}`;
}
