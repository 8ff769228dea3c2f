// One client speaks HTTP to foreign hosts (src/platform/net/http): its guard judges every address,
// and its bounds end every exchange. Walks the source for a second one.
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const client = 'src/platform/net/http/client.ts';
/** Files that ask the daemon of this machine at an address of its own. */
const askOwnDaemon = ['src/service/status.ts', 'commands/daemon/drain.ts', 'commands/dev/clock.ts'];

/** Ways to send a request over HTTP in Node: each is an import or a call. */
const roads = [
  /from '(?:undici|axios|got|node-fetch)'/,
  /import \{[^}]*\b(?:request|get)\b[^}]*\} from '(?:node:)?https?'/,
  /(?<![\w.$#])fetch\(/,
  /\bimport\('(?:undici|axios|node:https?)'\)/,
];

const files = globSync(['src/**/*.ts', 'daemon/**/*.ts', 'commands/**/*.ts']);

describe('outgoing HTTP', () => {
  it('has one client', () => {
    const found = files.filter((file) => {
      const text = readFileSync(file, 'utf8');
      return roads.some((road) => road.test(text));
    });
    expect(found.sort()).toEqual([client, ...askOwnDaemon].sort());
  });

  it('is the only source of refusals by address besides the SMTP client', () => {
    const judges = files.filter((file) => /\bisPublicAddress\b/.test(readFileSync(file, 'utf8')));
    expect(judges.sort()).toEqual([
      'src/doctor/mail.ts',
      'src/identity/domains/check-records.ts',
      'src/mail/smtp/destination.ts',
      'src/mail/smtp/way.ts',
      'src/platform/net/http/connect.ts',
      'src/platform/net/network-address.ts',
      'src/webhooks/endpoints/url-rules.ts',
    ]);
  });
});
