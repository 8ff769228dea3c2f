// Numbers as a line of bars, one character each.

const bars = '▁▂▃▄▅▆▇█';

/** The largest is the highest bar, zero the lowest; empty for none. */
export function sparkline(values: readonly number[]): string {
  const largest = Math.max(...values, Number.MIN_VALUE);
  return values
    .map((value) => bars.charAt(Math.ceil((Math.max(0, value) / largest) * (bars.length - 1))))
    .join('');
}
