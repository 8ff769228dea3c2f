// Retries against a server that knows mail by the literal triplet of client address, MAIL FROM and
// RCPT TO. Real SMTP sockets; the virtual clock runs the schedule.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { bothStores } from '../../support/command.ts';
import { literalGreylist } from '../../support/greylist.ts';
import { arrives, dsn, type ReportWorld, startReportWorld } from '../reports/report-fixture.ts';

const minuteMs = 60_000;
const ada = 'ada@example.com';
const bob = 'bob@example.com';
const carl = 'carl@elsewhere.test';
const html = '<html><body><a href="https://shop.example/a">A</a></body></html>';

describe.each(bothStores)('greylisted mail on %s', (store) => {
  let world: ReportWorld;
  beforeEach(async () => {
    world = await startReportWorld({ store });
    world.app.publicUrl.current = 'https://mail.example';
  });
  afterEach(() => world.close());

  const letPass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      await world.clock.advance(minuteMs);
      await world.pipeline.idle();
    }
  };

  /** Return paths of the transactions so far, in order. */
  const returnPaths = () =>
    world.sink.commands.flatMap(({ line }) => /^MAIL FROM:<(.*?)>/.exec(line)?.[1] ?? []);

  const greylist = (waitMinutes: number) =>
    world.sink.greylist(literalGreylist(world.clock, waitMinutes * minuteMs));

  const mails: [string, () => Promise<string>][] = [
    ['one recipient', async () => (await world.sent(ada)).id],
    ['two recipients of a domain', async () => (await world.sent([ada, bob])).id],
    ['recipients of two domains', async () => (await world.sent([ada, bob, carl])).id],
    ['a blind copy', async () => (await world.sent(ada, { bcc: [{ email: bob }] })).id],
    [
      'tracked links',
      async () =>
        (
          await world.sent([ada, bob], {
            email: { html, tracking: { opens: true, clicks: true } },
          })
        ).id,
    ],
    [
      'an unsubscribe link',
      async () => {
        const { id } = await createGroup(world.app, world.caller, { name: 'News' });
        return (await world.sent([ada, bob], { email: { unsubscribeGroupId: id } })).id;
      },
    ],
    [
      'MIME by hand',
      async () => {
        const { id } = await handIn(world.app, world.operator, {
          raw: Buffer.from('From: hello@sandbox.test\r\nSubject: By hand\r\n\r\nBy hand\r\n'),
          recipients: [ada, bob],
          allowsUtf8: false,
          bareDomain: null,
          via: 'sendmail',
          user: null,
        });
        return id;
      },
    ],
  ];

  it.each(mails)('with %s is let in at the third attempt', async (_what, sent) => {
    greylist(5);
    const id = await sent();
    await letPass(8);
    const statuses = await world.statuses(id);
    expect(statuses.filter((one) => !one.endsWith(' sent'))).toEqual([]);
    const counts = [...Map.groupBy(returnPaths(), (path) => path).values()].map(
      ({ length }) => length,
    );
    expect(counts.filter((count) => count !== 3)).toEqual([]);
  });

  it('is explained as a wait', async () => {
    greylist(5);
    const { id } = await world.sent(ada);
    const [recipient] = (await explainMessage(world.app, world.caller, id)).recipients;
    expect(recipient?.happened).toContain('lets mail of new senders wait (greylisting)');
    expect(recipient?.next).toContain('Attempt 2 follows');
  });

  it('keeps the return path of the recipients that are left', async () => {
    world.sink.on({ verb: 'RCPT', match: /ada@/, times: 3 }, '451 4.7.1 greylisted');
    const { id } = await world.sent([ada, bob]);
    await letPass(30);
    expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} sent`]);
    const [shared, ...alone] = returnPaths();
    expect(new Set(alone).size).toBe(1);
    expect(alone).not.toContain(shared);
  });

  it('is bounced by its return path alone, after retries', async () => {
    greylist(5);
    const { id, copyOf } = await world.sent([ada, bob, carl]);
    await letPass(8);
    const { returnPath } = copyOf(ada);
    expect(returnPath).toBe(copyOf(bob).returnPath);
    await arrives(world.app, returnPath, dsn(returnPath, carl));
    expect(await world.blocked()).toEqual([]);
    await arrives(world.app, returnPath, dsn(returnPath, bob));
    expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} bounced`, `${carl} sent`]);
  });
});
