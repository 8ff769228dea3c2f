// Mail of runs from the shared content to the bytes of each recipient, and back from their clicks.
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listDomains } from '../../../src/identity/domains/domains.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { readRawMail } from '../../../src/outbound/sending/stored-parts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { tables } from '../../../src/platform/store/db.ts';
import { type TrackingWorld, trackingWorld } from '../../outbound/tracking/fixtures.ts';
import { stores } from '../../support/command.ts';
import { dkimResolver } from '../../support/dkim-resolver.ts';
import { addressee, campaignMail, dispatched, startedRun } from './fixtures.ts';

const dayMs = 86_400_000;

describe.each(stores)('mail of runs on %s', (store) => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld(store);
  });
  afterEach(() => world.close());

  /** Returns the raw mails at the sink by recipient. */
  async function received(count: number): Promise<Map<string, string>> {
    const messages = await world.sink.waitFor(count);
    await world.pipeline.idle();
    return new Map(messages.map(({ recipients, raw }) => [`${recipients}`, raw.toString()]));
  }

  const count = async (table: string) => {
    const { db } = world.app.store;
    const row = await tables<Record<string, object>>(db)
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    return Number(row.n);
  };

  it('stores one content for all messages', async () => {
    const { app, caller } = world;
    const ada = await addressee(app, caller, 'ada@example.com', { firstName: 'Ada' });
    const bob = await addressee(app, caller, 'bob@example.com', { firstName: 'Bob' });
    const before = await count('contents');
    const plain = await startedRun(app, caller, campaignMail({ subject: 'Hi', text: 'News' }));
    await dispatched(app, caller, plain, [ada, bob]);
    const html = '<p>Hi {{ contact.firstName }}</p>';
    const filled = await startedRun(app, caller, campaignMail({ subject: 'Hi', html }));
    await dispatched(app, caller, filled, [ada, bob]);
    expect(await count('contents')).toBe(before + 2);
    expect(await count('message_values')).toBe(2);
    await received(4);
  });

  it('fills subject, HTML and text with the values of each contact', async () => {
    const { app, caller } = world;
    const ada = await addressee(app, caller, 'ada@example.com', { firstName: 'Ada' });
    const bob = await addressee(app, caller, 'bob@example.com', { firstName: 'B<b>' });
    const email = {
      subject: 'Hi {{ contact.firstName }}',
      html: '<html><body><p>Dear {{ contact.firstName }} of {{ company }}</p></body></html>',
      templateData: { company: 'Acme' },
    };
    const run = await startedRun(app, caller, campaignMail(email));
    const [first = ''] = await dispatched(app, caller, run, [ada, bob]);
    const mails = await received(2);
    expect(mails.get('ada@example.com')).toContain('Dear Ada of Acme');
    expect(mails.get('bob@example.com')).toContain('Dear B&lt;b&gt; of Acme');
    expect(mails.get('bob@example.com')).toContain('Dear B<b> of Acme');
    expect(await getMessage(app, caller, first)).toMatchObject({
      subject: 'Hi Ada',
      campaignRunId: run.id,
    });
  });

  it('gives a download a month later the bytes that left', async () => {
    const { app, caller, clock } = world;
    const ada = await addressee(app, caller, 'ada@example.com', { firstName: 'Ada' });
    const { id: unsubscribeGroupId } = await createGroup(app, caller, { name: 'News' });
    const email = {
      subject: 'Hi {{ contact.firstName }}',
      html: '<html><body><a href="https://shop.example/{{ contact.firstName }}">{{ "now" | date: "%s" }}</a><a href="{{ view_url }}">view</a></body></html>',
      unsubscribeGroupId,
      tracking: { opens: true, clicks: true },
    };
    const run = await startedRun(app, caller, campaignMail(email));
    const [id = ''] = await dispatched(app, caller, run, [ada]);
    const sent = (await received(1)).get('ada@example.com') ?? '';
    const { items } = await listDomains(app, caller, { page: 1, limit: 20 });
    const { results } = await dkimVerify(Buffer.from(sent), { resolver: dkimResolver(items) });
    expect(results.map(({ status }) => status.result)).toContain('pass');
    expect(results.map(({ status }) => status.result)).not.toContain('fail');
    await clock.advance(30 * dayMs);
    expect((await readRawMail(app, caller, id)).body.toString()).toBe(sent);
  });

  it('leads a click to the link of this recipient, also one in a loop', async () => {
    const { app, caller } = world;
    const ada = await addressee(app, caller, 'ada@example.com', {
      firstName: 'Ada',
      customFields: { plan: 'gold' },
    });
    const email = {
      subject: 'Hi',
      html: `<html><body>{% for n in numbers %}<a href="https://shop.example/{{ n }}?plan={{
        contact.customFields.plan }}">x</a>{% endfor %}</body></html>`,
      templateData: { numbers: [7, 8] },
      tracking: { opens: true, clicks: true },
    };
    const run = await startedRun(app, caller, campaignMail(email));
    const [id = ''] = await dispatched(app, caller, run, [ada]);
    const [copy] = await world.copies(1);
    expect(copy?.links).toHaveLength(2);
    await world.clock.advance(60_000);
    const answer = await world.ask(copy?.links[1] ?? '');
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: 'https://shop.example/8?plan=gold' },
    });
    expect(await getMessage(app, caller, id)).toMatchObject({ status: 'read' });
  });

  it('keeps only the values that the content reads', async () => {
    const { app, caller } = world;
    const profile = { firstName: 'Ada', lastName: 'Lovelace', customFields: { a: '1', b: '2' } };
    const ada = await addressee(app, caller, 'ada@example.com', profile);
    const text = '{{ contact.customFields.a }} {% if contact.lastName %}x{% endif %}';
    const run = await startedRun(app, caller, campaignMail({ subject: 'Hi', text }));
    await dispatched(app, caller, run, [ada]);
    const { merge_data } = await tables<{ message_values: { merge_data: string } }>(app.store.db)
      .selectFrom('message_values')
      .select('merge_data')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(merge_data)).toEqual({
      contact: { customFields: { a: '1' }, lastName: 'Lovelace' },
    });
    await received(1);
  });

  it('names the value for which no message can be made', async () => {
    const { app, caller } = world;
    const ada = await addressee(app, caller, 'ada@example.com', { firstName: 'Ada' });
    const broken = await addressee(app, caller, 'bob@example.com', { firstName: 'B\nb' });
    const large = { customFields: { long: 'x'.repeat(9_000) } };
    const big = await addressee(app, caller, 'big@example.com', large).catch(() => null);
    const text = 'News {{ contact.customFields.long }}';
    const run = await startedRun(
      app,
      caller,
      campaignMail({ subject: '{{ contact.firstName }}', text }),
    );
    const made = await dispatched(app, caller, run, big ? [ada, broken, big] : [ada, broken]);
    expect(made[0]).toMatch(/^msg_/);
    expect(made[1]).toBe(
      'email.templateData: contact.firstName has a line break or a NUL, which a subject cannot have',
    );
    if (big) expect(made[2]).toBe('the values of this contact take over 8 KB');
    await received(1);
  });

  it('never shows the value of one recipient to another', async () => {
    const { app, caller } = world;
    const email = { subject: '{{ contact.firstName }}', html: '<p>{{ contact.lastName }}</p>' };
    const run = await startedRun(app, caller, campaignMail(email));
    let people = 0;
    let sent = 0;
    /** Long enough that no signature has it by chance. */
    const markOf = (person: number) => `-value-of-${person}-`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z&<"]{0,8}$/), { minLength: 2, maxLength: 6 }),
        async (names) => {
          const marks = names.map((name, index) => `${markOf(people + index)}${name}`);
          const addressees = [];
          for (const mark of marks) {
            const profile = { firstName: mark, lastName: mark };
            addressees.push(await addressee(app, caller, `p${people++}@example.com`, profile));
          }
          await dispatched(app, caller, run, addressees);
          sent += names.length;
          const mails = await received(sent);
          for (const [index, { email }] of addressees.entries()) {
            const raw = mails.get(email) ?? '';
            expect(raw).toContain(markOf(people - marks.length + index));
            for (const other of marks.keys()) {
              if (other === index) continue;
              expect(raw).not.toContain(markOf(people - marks.length + other));
            }
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
