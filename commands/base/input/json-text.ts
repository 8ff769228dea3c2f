// JSON for standard output and standard error. A pipe gets the result of `JSON.stringify`. For a
// terminal, characters that could control it are escaped too; this does not change the parsed
// value.

/**
 * DEL, C1 controls, line separators and bidirectional marks; `JSON.stringify` escapes C0 controls.
 */
const steering = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns `value` as JSON; escapes control characters if the stream is a terminal. */
export function jsonText(
  value: unknown,
  indent = 2,
  stream: { isTTY?: boolean } = process.stdout,
): string {
  const text = JSON.stringify(value, null, indent);
  return stream.isTTY ? text.replace(steering, escaped) : text;
}
