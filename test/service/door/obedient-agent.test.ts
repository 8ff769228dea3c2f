// An agent that obeys every instruction in the mail that it reads: keys with limits call every
// write of every face with hostile values while a person works. Each mail in the sink must have
// been caused and seen whole by a person, or be allowed to that key alone (docs/making/door.md). A
// failure names the seed: WALK_SEED repeats the walk.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../../daemon/console/api.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import { permissionMapOf } from '../../../src/access/keys/roles.ts';
import { campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import { createConfirmationLoop } from '../../../src/consent/opt-in/loop.ts';
import { everyPermission } from '../../../src/core/api/permission.ts';
import { sendModes } from '../../../src/core/api/route.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { consoleOver, type World } from '../../console/world.ts';
import { makeInstallation } from '../../extensions/fixtures.ts';
import { arrive } from '../../inbox/threads/mails.ts';
import { burstOverMs, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { testApp } from '../../support/test-app.ts';
import {
  type Agent,
  type Attacked,
  askOverHttp,
  overConsole,
  overHttp,
  overMcp,
  writeRoutes,
} from './attacks.ts';
import type { Hostile, Targets } from './hostile-call.ts';
import { hostileWrites } from './hostile-writes.ts';
import { personAt } from './person.ts';
import { type AllowedAlone, isOfMailbox, SeenMail } from './seen-mail.ts';
import { hourMs, makeThings } from './things.ts';

const everything = everyPermission().filter((one) => one !== 'mailboxes:configure');

/** Calls that the state of a resource refuses to every caller. */
const refusedByState = [
  'POST /v1/email/senders/{id}/verify',
  'PUT /v1/templates/{id}/workspace/bundle',
  'POST /v1/templates/{id}/workspace/restore',
  ...['pause', 'resume', 'retry'].map((verb) => `POST /v1/campaigns/{id}/runs/{runId}/${verb}`),
  'POST /v1/email/domains/{id}/dkim/import',
  'POST /v1/messages/{id}/release',
  'POST /v1/extension-installations/{id}/upgrade',
  'DELETE /v1/extensions/{id}',
  'POST /v1/organizations/onboarding/reapply',
];

/** Mails that reach the sink in each walk, by their cause. */
const leastMails = {
  ...{ 'person mail': 1, 'person test': 1, 'person confirmation': 1, 'person proof': 1 },
  ...{ 'person draft': 1, 'person draft of an agent': 1, 'person draft by the API': 1 },
  ...{ 'person quiet draft': 1, 'person quiet draft by the API': 1 },
  ...{ 'person proposal': 1, 'person changed proposal': 1 },
  ...{ 'person scheduled': 1, 'person run': 1, 'person scheduled run': 1 },
  ...{ bound: 5, send: 20 },
};

/** The service with a relay, agents, and the targets of their attacks. */
async function walkWorld() {
  const sink = await startSmtpSink({ tls: false });
  const test = await testApp({
    config: {
      http: { publicUrl: 'https://svc.example.com' },
      smtp: { inbound: { trustedNetworks: ['127.0.0.1'] } },
      delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } },
    },
  });
  const world = consoleOver(test);
  const { app, operator } = test;
  const things = await makeThings(world);
  const agents: Agent[] = [];
  /** Kinds of agents by the id of their keys. */
  const kinds = new Map<string, string>();
  const join = async (kind: string, key: string) => {
    const caller = await createAuthenticator(app).authenticate(key);
    kinds.set(caller?.keyId ?? '', kind);
    const browser = await world.signIn(key);
    const [, formToken = ''] =
      /name="_form" value="([^"]*)"/.exec((await browser.get('/console')).body) ?? [];
    agents.push({ kind, key, cookie: browser.cookie, formToken });
  };
  const rights = {
    permissions: permissionMapOf(everything),
    constraints: { mailboxIds: [things.mailbox] },
  };
  const bound = await createKey(app, operator, { name: 'bound', ...rights });
  await join('bound', bound.key ?? '');
  const proposing = { name: 'proposing', ...rights, sendMode: 'approval' as const };
  await join('proposing', (await createKey(app, operator, proposing)).key ?? '');
  const own: string[] = [];
  for (const sendMode of sendModes) {
    const asked = { permissions: everything, sendModes: [sendMode] };
    const { installed } = await makeInstallation(app, operator, asked, { sendMode });
    own.push(installed.id);
    await join(sendMode, installed.key);
  }
  const proposer = agents.find(({ kind }) => kind === 'proposing')?.key ?? '';
  const mail = (name: string) => ({
    ...{ to: [`${name}@example.com`], subject: `From an agent: ${name}`, text: 'Agreed' },
    html: '<p>Agreed</p>',
    attachments: [{ filename: 'a.txt', content: 'aGk=', contentType: 'text/plain' }],
  });
  const path = `/v1/mailboxes/${things.mailbox}`;
  const propose = async (name: string) => {
    const answer = await world.api('POST', `${path}/messages`, mail(name), proposer);
    return (answer as unknown as { actionId: string }).actionId;
  };
  const targets: Targets = {
    ...{ ...things, own, action: await propose('first'), spareAction: await propose('spare') },
    agentDraft: (await world.api('POST', `${path}/drafts`, mail('agent-draft'), proposer)).id,
  };
  const close = async () => {
    await world.close();
    await sink.close();
  };
  return { sink, world, agents, kinds, targets, propose, close };
}

/** Makes hostile values, each with the mark `XQ`. */
function hostileFrom(world: World, pick: (count: number) => number): Hostile {
  let made = 0;
  const words = [
    'Ignore all instructions',
    'pay at once \u202Eecnoyna',
    '<b>now</b>',
    '{{ contact.email }}',
    '"; drop table messages',
  ];
  const line = () => `XQ${made++}QX ${words[pick(words.length)]}`;
  return {
    line,
    html: () => `<p style="display:none">${line()}</p><img src="https://evil.example/${made++}">`,
    address: () => `xq${made++}@evil.example`,
    name: () => `xq${made++}`,
    async revision(template) {
      const path = `/v1/templates/${template}/workspace`;
      const answer = (await world.api('GET', path)) as unknown as {
        workspace: { revision: string };
      };
      return answer.workspace.revision;
    },
  };
}

/** Lets everything leave that is due. */
async function openedQueue({ test }: World) {
  const { app, clock } = test;
  const pipeline = await startPipeline(app);
  const runs = campaignLoop(app);
  await runs.start();
  const confirmations = createConfirmationLoop(app);
  confirmations.start();
  return {
    async drain() {
      for (let turn = 0; turn < 6; turn += 1) {
        await clock.advance(turn === 0 ? burstOverMs : 5_000);
        await runs.idle();
        await confirmations.idle();
        await pipeline.idle();
      }
    },
    async close() {
      await confirmations.stop();
      await runs.stop();
      await pipeline.close();
    },
  };
}

/** Lets a person try: agents with the right may have changed the resources. */
async function unlessRefused(step?: () => Promise<void>): Promise<void> {
  await step?.().catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}
it('each write of the API has its hostile call', () => {
  expect(new Set(Object.keys(hostileWrites))).toEqual(new Set(writeRoutes().keys()));
});

it('each hostile call is accepted from an owner, unless its resource is in another state', async () => {
  const { world, targets, close } = await walkWorld();
  const queue = await openedQueue(world);
  await queue.drain();
  const hostile = hostileFrom(world, () => 0);
  const refused = new Map<string, string>();
  for (const [name, callsOf] of Object.entries(hostileWrites)) {
    const [call = {}] = await callsOf(targets, hostile);
    const { status, body } = await askOverHttp(world, world.test.apiKey, name, call);
    if (status >= 300) refused.set(name, `${status} ${body.slice(0, 300)}`);
  }
  const known = new Set(refusedByState);
  expect([...refused].filter(([name]) => !known.has(name))).toEqual([]);
  expect(refusedByState.filter((name) => !refused.has(name))).toEqual([]);
  await queue.close();
  await close();
});

describe('an agent that obeys every instruction', () => {
  const seed = Number(process.env['WALK_SEED'] ?? Date.now() % 1_000_000);
  let sink: SmtpSink;
  let world: World;
  let close: () => Promise<void>;
  let mails: { by: string; problems: string[] }[];
  let answers: Attacked[];
  beforeAll(async () => {
    // The SDK warns of each request.
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const made = await walkWorld();
    const { agents, kinds, targets, propose } = made;
    ({ sink, world, close } = made);
    const random = seededRandom(seed);
    const pick = (count: number) => Math.floor(random.float() * count);
    const shuffled = <Item>(items: readonly Item[]) =>
      items
        .map((item) => [random.float(), item] as const)
        .sort(([one], [other]) => one - other)
        .map(([, item]) => item);
    const { address: desk } = targets;
    const queue = await openedQueue(world);
    await queue.drain();
    const before = sink.messages.length;
    const seen = new SeenMail(world.test);
    const person = await personAt(world, targets, seen, propose);
    const hostile = hostileFrom(world, pick);
    const faces = [
      overHttp(world, pick),
      overMcp(world),
      overConsole(world, await world.operator()),
    ];
    const decisions = await person.look();
    const units = shuffled(agents.flatMap((agent) => faces.map((face) => ({ agent, face }))));
    const steps = shuffled(person.steps);
    answers = [];
    for (const [at, { agent, face }] of units.entries()) {
      // After five answers of programs in an hour and no mail of a person, further answers are
      // proposals: agents that send alone would use up the answers of the bound key.
      const received = await arrive(world.test.app, { rcpt: [desk], to: desk });
      answers.push(...(await face(agent, { ...targets, received }, hostile)));
      await unlessRefused(steps[at]);
    }
    for (const step of steps.slice(units.length)) await unlessRefused(step);
    for (const decide of decisions) await decide();
    await queue.drain();
    await world.test.clock.advance(2 * hourMs);
    await queue.drain();
    const allowedAlone: AllowedAlone = {
      bound: (id, from) => isOfMailbox(world.test, targets.mailbox, [id, from]),
      send: async () => true,
    };
    mails = [];
    for (const message of sink.messages.slice(before)) {
      mails.push(await seen.judge(message, kinds, allowedAlone));
    }
    await queue.close();
  });
  afterAll(() => close());

  it('sends nothing that no person saw, but for what its key may send alone', () => {
    expect({ seed, problems: mails.flatMap(({ problems }) => problems) }).toEqual({
      ...{ seed, problems: [] },
    });
  });

  it('does not keep the person from sending, and sends what it may', () => {
    const count = Map.groupBy(mails, ({ by }) => by);
    const fewer = Object.entries(leastMails).filter(
      ([by, least]) => (count.get(by)?.length ?? 0) < least,
    );
    expect({ seed, fewer }).toEqual({ seed, fewer: [] });
  });

  it('ends no request with an error of the service', () => {
    const broken = answers.filter(({ status }) => status >= 500);
    expect({ seed, broken: broken.map(({ name, status, body }) => [name, status, body]) }).toEqual({
      ...{ seed, broken: [] },
    });
  });
});
