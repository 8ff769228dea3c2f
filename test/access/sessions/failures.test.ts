// Failed sign-ins: of known persons in the audit, of strangers in a metric and a line of the log.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { countFailure } from '../../../src/access/sessions/failures.ts';
import { makeMailedLink } from '../../../src/access/sessions/mailed-links.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { consoleOver } from '../../console/world.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { join, personOf } from '../members/people.ts';

const minute = 60_000;
const email = 'ann@people.example';

describe.each(stores)('a failed sign-in on %s', (store) => {
  let lines: Record<string, unknown>[];
  let test: TestApp;
  let organizationIds: string[];
  let personId: string;
  beforeEach(async () => {
    lines = [];
    const log = { write: (text: string) => void lines.push(JSON.parse(text)) };
    test = await testApp({ store, log });
    const { app, operator } = test;
    const other = await createOrganization(app, { name: 'other', plan: 'free' });
    organizationIds = [operator.organizationId, other.id];
    for (const id of organizationIds) {
      personId = personOf(await join(app, operatorOf(id), email, 'viewer'));
    }
  });
  afterEach(() => test.close());

  const action = 'member.sign-in-failed' as const;
  const entries = () =>
    Promise.all(
      organizationIds.map(async (id) => {
        const { items } = await listAudit(test.app, operatorOf(id), { action, limit: 100 });
        return items.map(({ details }) => details);
      }),
    );
  const failuresOfWay = async (way: string) => {
    const { values } = await test.app.metrics.signInFailures.get();
    return values.find(({ labels }) => labels.way === way)?.value ?? 0;
  };

  it('of a known person has an entry an hour and way in each organization, with a count', async () => {
    const { app, clock } = test;
    for (let n = 0; n < 3; n++) await countFailure(app, 'passkey', personId);
    await countFailure(app, 'link', personId);
    const first = [
      { way: 'link', count: 1 },
      { way: 'passkey', count: 3 },
    ];
    expect(await entries()).toEqual([first, first]);
    await clock.advance(60 * minute + 1);
    await countFailure(app, 'passkey', personId);
    const later = [{ way: 'passkey', count: 1 }, ...first];
    expect(await entries()).toEqual([later, later]);
  });

  it('of a stranger writes no audit, and a line of the log a minute', async () => {
    const { app, clock } = test;
    for (let n = 0; n < 5; n++) await countFailure(app, 'pasted-key', null);
    await clock.advance(minute);
    await countFailure(app, 'passkey', null);
    expect(await entries()).toEqual([[], []]);
    const written = lines.filter(({ msg }) => msg === 'sign-ins failed');
    expect(written).toMatchObject([{ 'pasted-key': 1 }, { 'pasted-key': 4, passkey: 1 }]);
    expect(await failuresOfWay('pasted-key')).toBe(5);
  });

  it('is counted by the doors of the console', async () => {
    const { app, clock } = test;
    const made = { personId, purpose: 'sign-in', email, browser: 'x', address: '' } as const;
    const { token } = await app.store.write((trx) => makeMailedLink(app, trx, made, false));
    const { browser } = consoleOver(test);
    await clock.advance(15 * minute);
    expect((await browser().post(`/console/link/${token}`, {})).status).toBe(410);
    expect(await entries()).toEqual([[{ way: 'link', count: 1 }], [{ way: 'link', count: 1 }]]);
    await browser().post(`/console/link/${'x'.repeat(43)}`, {});
    await browser().post('/console/sign-in', { key: 'svc_live_wrong' });
    expect([await failuresOfWay('link'), await failuresOfWay('pasted-key')]).toEqual([2, 1]);
  });
});
