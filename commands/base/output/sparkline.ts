// Draws numbers as a line of bars, a character for each number.

const bars = '▁▂▃▄▅▆▇█';

/** Returns the bars: the largest number is the highest, zero the lowest. Empty without numbers. */
export function sparkline(values: readonly number[]): string {
  const largest = Math.max(...values, Number.MIN_VALUE);
  return values
    .map((value) => bars.charAt(Math.ceil((Math.max(0, value) / largest) * (bars.length - 1))))
    .join('');
}
