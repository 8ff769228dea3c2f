// Number of connections that the HTTP server takes under a limit of open files.
import { expect, it } from 'vitest';
import { affordableConnections } from '../../daemon/http/connections.ts';

it.each([
  [10_000, 20_000, 10_000],
  [10_000, 4_096, 3_584],
  [10_000, 256, 128],
  [50, 256, 50],
])('of %i connections, a limit of %i open files allows %i', (most, files, expected) => {
  expect(affordableConnections(most, files)).toBe(expected);
});
