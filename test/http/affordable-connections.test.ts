// How many connections the HTTP face takes where few files may be open.
import { expect, it } from 'vitest';
import { affordableConnections } from '../../daemon/http/connections.ts';

it.each([
  [10_000, 20_000, 10_000],
  [10_000, 4_096, 3_584],
  [10_000, 256, 128],
  [50, 256, 50],
])(
  'of %i connections and %i files that may be open, %i are affordable',
  (most, files, expected) => {
    expect(affordableConnections(most, files)).toBe(expected);
  },
);
