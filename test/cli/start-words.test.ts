// The line about the destination of mail at a start, for each delivery mode.
import { expect, it } from 'vitest';
import { startWords } from '../../daemon/start-words.ts';
import type { Config } from '../../src/core/config/config.ts';

const route = { domain: 'acme.example', host: 'mx.acme.example' };
const captured = 'captured (delivery.mode is capture)';
const allowed = '; only recipients named in delivery.allow get it, the rest is captured';
const excepted = '; delivery.routes makes exceptions';

it.each([
  [{ mode: 'capture' }, `No mail leaves this machine: it is ${captured}`],
  [
    { mode: 'capture', routes: [route] },
    `Mail is captured, and stays on this machine (delivery.mode is capture)${excepted}`,
  ],
  [{ mode: 'relay' }, 'Mail leaves this machine through relay.example (delivery.mode is relay)'],
  [
    { mode: 'relay', allow: ['acme.example'] },
    `Mail leaves this machine through relay.example (delivery.mode is relay)${allowed}`,
  ],
  [
    { mode: 'direct' },
    "Mail leaves this machine straight to the recipients' servers (delivery.mode is direct)",
  ],
  [
    { mode: 'direct', allow: ['acme.example'], routes: [route] },
    "Mail leaves this machine straight to the recipients' servers (delivery.mode is direct)" +
      `${allowed}${excepted}`,
  ],
])('the start with %j describes the destination of mail', (chosen, expected) => {
  const delivery = { relay: { host: 'relay.example' }, allow: [], routes: [], ...chosen };
  const described = startWords({ delivery } as unknown as Config, 'http://127.0.0.1:2525');
  expect(described).toBe(`${expected}. The API is described at http://127.0.0.1:2525/docs`);
});
