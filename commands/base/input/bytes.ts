// Formats numbers of bytes for people.
const units = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Writes a number of bytes with a unit: `1.5 MB`. */
export function bytesInWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power]}`;
}
