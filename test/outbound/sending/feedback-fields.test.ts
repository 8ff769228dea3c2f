// Feedback-ID and List-Id of mail that leaves, as a receiver sees them: once, and signed.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listDomains } from '../../../src/identity/domains/domains.ts';
import { withFeedbackFields } from '../../../src/outbound/messages/feedback-fields.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import {
  addressee,
  campaignMail,
  dispatched,
  startedRun,
} from '../../campaigns/content/fixtures.ts';
import { send } from '../../support/delivery.ts';
import { dkimResolver } from '../../support/dkim-resolver.ts';
import { type TrackingWorld, trackingWorld } from '../tracking/fixtures.ts';

const organization_id = 'org_1';
const from_email = 'hello@acme.example';

describe('the fields of a message', () => {
  const plain = { organization_id, from_email, campaign_run_id: null };
  const campaign = { ...plain, campaign_run_id: 'run_1' };
  const long = `${'a'.repeat(60)}.`.repeat(4);
  it.each([
    ['a send', plain, null, [], [['Feedback-ID', '-:-:org_1:svc']]],
    ['a send with a group', plain, 'usg_1', [], [['Feedback-ID', '-:usg_1:org_1:svc']]],
    [
      'a campaign',
      campaign,
      null,
      [],
      [
        ['Feedback-ID', 'run_1:-:org_1:svc'],
        ['List-Id', '<org_1.acme.example>'],
      ],
    ],
    [
      'a campaign with a group',
      campaign,
      'usg_1',
      [],
      [
        ['Feedback-ID', 'run_1:usg_1:org_1:svc'],
        ['List-Id', '<usg_1.acme.example>'],
      ],
    ],
    ['a given Feedback-ID', plain, null, [['Feedback-ID', 'a:b:c:d']], []],
    ['a given feedback-id', plain, 'usg_1', [['feedback-id', 'a:b:c:d']], []],
    [
      'a given List-Id of a send',
      plain,
      null,
      [['List-Id', '<a.b>']],
      [['Feedback-ID', '-:-:org_1:svc']],
    ],
    [
      'a given LIST-ID of a campaign',
      campaign,
      null,
      [['LIST-ID', '<a.b>']],
      [['Feedback-ID', 'run_1:-:org_1:svc']],
    ],
    [
      'both given',
      campaign,
      'usg_1',
      [
        ['FEEDBACK-ID', 'x'],
        ['list-id', '<a.b>'],
      ],
      [],
    ],
    [
      'a domain too long for a list identifier',
      { ...campaign, from_email: `a@${long}example` },
      null,
      [],
      [['Feedback-ID', 'run_1:-:org_1:svc']],
    ],
  ] as const)('are right for %s', (_, message, groupId, given, added) => {
    expect(withFeedbackFields(message, groupId, given)).toEqual([...given, ...added]);
  });
});

describe('mail that leaves', () => {
  let world: TrackingWorld;
  beforeEach(async () => {
    world = await trackingWorld('sqlite');
  });
  afterEach(() => world.close());

  /** Returns the fields of the first mail at the sink, and the names that its signatures cover. */
  async function arrived() {
    const [mail] = await world.sink.waitFor(1);
    const raw = mail?.raw ?? Buffer.alloc(0);
    const { items } = await listDomains(world.app, world.caller, { page: 1, limit: 1 });
    const { results } = await dkimVerify(raw, { resolver: dkimResolver(items), strict: true });
    expect(new Set(results.map(({ status }) => status.result))).toEqual(new Set(['pass']));
    const header =
      raw
        .toString()
        .split('\r\n\r\n')[0]
        ?.replace(/\r\n[ \t]+/g, ' ') ?? '';
    const signed = /h=([^;]*)/.exec(header)?.[1]?.toLowerCase().replaceAll(' ', '').split(':');
    return {
      signed,
      of: (name: string) =>
        [...header.matchAll(new RegExp(`^${name}: (.*)$`, 'gim'))].map(([, value]) => value),
    };
  }

  it('carries a signed Feedback-ID', async () => {
    const { app, caller } = world;
    await send(app, caller, 'ada@example.com');
    const { of, signed } = await arrived();
    expect(of('Feedback-ID')).toEqual([`-:-:${caller.organizationId}:svc`]);
    expect(of('List-Id')).toEqual([]);
    expect(signed).toContain('feedback-id');
  });

  it('names its unsubscribe group', async () => {
    const { app, caller } = world;
    const { id: unsubscribeGroupId } = await createGroup(app, caller, { name: 'News' });
    await send(app, caller, 'ada@example.com', { email: { unsubscribeGroupId } });
    const { of, signed } = await arrived();
    expect(of('Feedback-ID')).toEqual([`-:${unsubscribeGroupId}:${caller.organizationId}:svc`]);
    expect(signed).toEqual(expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']));
  });

  it('keeps given fields, signed', async () => {
    const { app, caller } = world;
    const headers = { 'feedback-id': 'spring:eu:acme:sender', 'List-Id': 'Größe <n.acme.example>' };
    await send(app, caller, 'ada@example.com', { email: { headers } });
    const { of, signed } = await arrived();
    expect(of('Feedback-ID')).toEqual(['spring:eu:acme:sender']);
    expect(of('List-Id')).toEqual(['=?utf-8?B?R3LDtsOfZQ==?= <n.acme.example>']);
    expect(signed).toEqual(expect.arrayContaining(['feedback-id', 'list-id']));
  });

  it('names run and group in a campaign, and the list', async () => {
    const { app, caller } = world;
    const { id: unsubscribeGroupId } = await createGroup(app, caller, { name: 'News' });
    const email = { subject: 'Hi', text: 'News', unsubscribeGroupId };
    const run = await startedRun(app, caller, campaignMail(email));
    await dispatched(app, caller, run, [await addressee(app, caller, 'ada@example.com')]);
    const { of, signed } = await arrived();
    expect(of('Feedback-ID')).toEqual([
      `${run.id}:${unsubscribeGroupId}:${caller.organizationId}:svc`,
    ]);
    expect(of('List-Id')).toEqual([`<${unsubscribeGroupId}.sandbox.test>`]);
    expect(signed).toEqual(expect.arrayContaining(['feedback-id', 'list-id']));
  });

  it.each([
    ['', 1],
    ['Feedback-ID: a:b:c:d\r\n', 0],
  ])('handed in as MIME with %j gets %i Feedback-ID', async (field, added) => {
    const { app, operator, caller } = world;
    await handIn(app, operator, {
      raw: Buffer.from(`From: hello@sandbox.test\r\n${field}Subject: x\r\n\r\nx\r\n`),
      recipients: ['ada@example.com'],
      ...{ allowsUtf8: false, bareDomain: null, via: 'smtp', user: null },
    });
    const { of, signed } = await arrived();
    expect(of('Feedback-ID')).toEqual([added ? `-:-:${caller.organizationId}:svc` : 'a:b:c:d']);
    expect(signed).toContain('feedback-id');
  });
});
