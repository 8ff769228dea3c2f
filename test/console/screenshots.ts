// `npm run screenshots`: fifteen pictures of the console for the documents. Store and clock are the
// same each time, so one machine draws the same bytes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createMember } from '../../src/access/members/members.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { moveWindows } from '../../src/identity/warming/windows.ts';
import { storedRun } from '../campaigns/campaigns/fixtures.ts';
import { arrive } from '../inbox/threads/mails.ts';
import { repository } from '../support/cli.ts';
import { startPipeline } from '../support/delivery.ts';
import { chromiumPath, openPage, startChromium } from './chromium.ts';
import { browserOf, makePerson } from './persons.ts';
import { type Browser, consoleWorld, type Made, type World } from './world.ts';

const folder = join(repository, 'docs/pictures');
const dayMs = 24 * 3_600_000;
const minuteMs = 60_000;
const days = 14;

/** Content of the pictures, by the day on which it is made. */
class Story {
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  post(path: string, body: object, key?: string): Promise<Made> {
    return this.world.api('POST', path, body, key);
  }

  async send(email: string, subject: string): Promise<string> {
    const html = `<h1>${subject}</h1><p>Thank you for your order. It leaves today.</p><p><a href="https://acme.example/orders">Your orders</a></p>`;
    const mail = { subject, html, text: `${subject}\n\nThank you for your order.` };
    const { id } = await this.post('/v1/messages', {
      channel: 'email',
      from: { email: 'orders@acme.example' },
      to: [{ email }],
      email: mail,
    });
    return id;
  }

  /** Waits for all mail, then for the next full minute, so that no time depends on the machine. */
  async settle(): Promise<void> {
    const { clock } = this.world.test;
    const isUnderWay = async () => {
      const found = await Promise.all(
        ['pending', 'queued', 'processing'].map((status) =>
          this.world.api('GET', `/v1/messages?status=${status}&limit=1`),
        ),
      );
      return found.some(({ items = [] }) => items.length > 0);
    };
    while (await isUnderWay()) await clock.advance(100);
    await clock.advance(minuteMs - (clock.now() % minuteMs));
  }

  /** Sets up a sending domain that is warmed. */
  async domain(): Promise<string> {
    const { app, operator } = this.world.test;
    const { id } = await this.post('/v1/email/domains', { domain: 'acme.example' });
    await verifyDomain(app, operator, id, { force: true });
    await this.post('/v1/email/senders', {
      email: 'orders@acme.example',
      name: 'Acme Orders',
      isDefault: true,
    });
    await this.post(`/v1/email/domains/${id}/warming`, {
      identity: 'new',
      initialDailyRecipients: 8,
      dailyGrowthPercent: 20,
      targetDailyRecipients: 60,
    });
    return id;
  }

  /** Sends two weeks of mail, more each day. */
  async weeks(): Promise<void> {
    for (let day = 0; day < days; day++) {
      for (let sent = 0; sent < 4 + day + (day % 3) * 2; sent++) {
        const to = sent % 9 === 8 ? 'bounced@simulator.test' : 'delivered@simulator.test';
        await this.send(to, `Your order ${1_000 + day * 40 + sent}`);
      }
      await this.settle();
      await this.world.test.clock.advance(dayMs - minuteMs);
      await moveWindows(this.world.test.app);
    }
  }

  async inbox(): Promise<string> {
    const { app } = this.world.test;
    await arrive(app, {
      from: 'Grace Hopper <grace@example.com>',
      subject: 'Wrong colour',
      text: 'The parcel came today, but the lamp is green. I ordered a blue one.',
    });
    await arrive(app, {
      from: 'Alan Turing <alan@example.org>',
      subject: 'Invoice for March',
      text: 'Could you send the invoice once more, as a PDF?',
    });
    const text =
      'Is the reading lamp still in stock?\n\nBest regards\nAda\n\n> On Monday Acme wrote:\n> It will be back soon.';
    const first = {
      from: 'Ada Lovelace <ada@example.com>',
      subject: 'Reading lamp',
      id: 'lamp@example.com',
      text,
    };
    await arrive(app, first);
    const mailbox = await this.world.firstMailbox();
    const { items = [] } = await this.world.api('GET', `/v1/mailboxes/${mailbox}/threads`);
    const [thread] = items;
    const path = `/v1/mailboxes/${mailbox}/threads/${thread?.id}`;
    await this.post(`${path}/notes`, { body: 'Two are left in the warehouse.' });
    await this.post(`${path}/labels`, { labels: ['sales'] });
    return `/console/mailboxes/${mailbox}/threads/${thread?.id}`;
  }

  /** Lets an agent propose an answer. */
  async proposal(): Promise<string> {
    const mailbox = await this.world.firstMailbox();
    const agent = await this.post('/v1/api-keys', {
      name: 'support-agent',
      permissions: { mailboxes: ['read', 'send'] },
      constraints: { mailboxIds: [mailbox] },
      sendMode: 'approval',
    });
    const mail = {
      to: ['grace@example.com'],
      subject: 'Re: Wrong colour',
      text: 'Dear Grace,\n\nI am sorry for the mistake. A blue lamp leaves today; please keep the green one.\n\nAcme',
    };
    const { actionId } = (await this.post(
      `/v1/mailboxes/${mailbox}/messages`,
      mail,
      agent.key,
    )) as unknown as { actionId: string };
    return `/console/review/${mailbox}/${actionId}`;
  }

  async template(): Promise<string> {
    const { id } = await this.post('/v1/templates', {
      slug: 'order-shipped',
      name: 'Order shipped',
      subject: 'Your order {{ order.number }} has shipped',
      html: '<h1>On its way</h1><p>Dear {{ name }}, your order <b>{{ order.number }}</b> has left our house.</p>',
    });
    await this.post(`/v1/templates/${id}/publish`, {});
    const data = JSON.stringify({ name: 'Ada', order: { number: 'A-17' } }, null, 2);
    return `/console/templates/${id}/render?data=${encodeURIComponent(data)}`;
  }

  /** Makes a campaign with a run at half of its way. */
  async campaign(): Promise<string> {
    const { app, caller } = this.world.test;
    for (const name of ['Ada', 'Grace', 'Alan']) {
      await this.post('/v1/contacts', {
        email: `${name.toLowerCase()}@example.com`,
        name,
        tags: ['customer'],
      });
    }
    const { id } = await this.post('/v1/campaigns', {
      name: 'Spring sale',
      channel: 'email',
      email: { subject: 'Spring sale', html: '<p>It is spring.</p>' },
      audience: { includeTags: ['customer'] },
      transactional: true,
    });
    const counts = {
      total_recipients: 1_200,
      dispatched_count: 640,
      skipped_count: 22,
      failed_count: 3,
    };
    const run = await storedRun(app, caller, 'running', { campaign_id: id, ...counts });
    return `/console/campaigns/${id}/runs/${run.id}`;
  }
}

/** Makes colleagues and an open invitation. Returns the browser of an owner. */
async function people({ world }: Story): Promise<Browser> {
  const { app, operator } = world.test;
  const { personId } = await makePerson(world, 'jette@acme.example', [{ name: 'Jette' }]);
  await makePerson(world, 'henrik@acme.example', [{ name: 'Henrik', role: 'owner' }]);
  await makePerson(world, 'tariq@acme.example', [{ name: 'Tariq', role: 'support' }]);
  const invited = {
    email: 'mara@acme.example',
    role: 'editor',
    name: 'Mara',
    mail: false,
  } as const;
  await createMember(app, operator, invited);
  await browserOf(world, personId, { browser: 'Safari on iPhone', network: '2001:db8:4a2::/48' });
  return browserOf(world, personId, { proof: 'passkey' });
}

async function pathsOf(story: Story): Promise<Record<string, string>> {
  const domain = await story.domain();
  await story.weeks();
  const message = await story.send('bounced@simulator.test', 'Welcome to Acme');
  await story.settle();
  return {
    overview: '/console',
    messages: '/console/messages',
    message: `/console/messages/${message}`,
    thread: await story.inbox(),
    mailbox: `/console/mailboxes/${await story.world.firstMailbox()}`,
    proposal: await story.proposal(),
    domain: `/console/domains/${domain}`,
    template: await story.template(),
    run: await story.campaign(),
    contacts: '/console/contacts',
    reports: '/console/reports',
    queue: '/console/queue',
  };
}

const path = await chromiumPath();
if (path === null)
  throw new Error('No Chromium starts here ($CHROMIUM, PATH, @sparticuz/chromium)');
mkdirSync(folder, { recursive: true });
const world = await consoleWorld();
const pipeline = await startPipeline(world.test.app);
const browser = await startChromium(path);
try {
  const story = new Story(world);
  const paths = await pathsOf(story);
  const { url } = await world.http.listen();
  const { cookie } = await world.operator();
  const { cookie: person } = await people(story);
  const shots = Object.entries({
    ...paths,
    'sign-in': '/console/sign-in',
    people: '/console/people',
    account: '/console/account',
  });
  const cookies: Partial<Record<string, string>> = {
    'sign-in': 'x=y',
    people: person,
    account: person,
  };
  const combinations = [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 1280 },
    { colorScheme: 'light', width: 375 },
    { colorScheme: 'dark', width: 375 },
  ] as const;
  for (const [at, [shot, target]] of shots.entries()) {
    const { colorScheme, width } = combinations[at % combinations.length] ?? combinations[0];
    const viewport = { width, height: 800 };
    const { page, faults } = await openPage(browser, url, { colorScheme, viewport });
    const [name = '', value = ''] = (cookies[shot] ?? cookie).split('=');
    await page.context().addCookies([{ name, value, url: `${url}/console` }]);
    await page.goto(target, { waitUntil: 'load' });
    await page.screenshot({ path: join(folder, `console-${shot}.png`), animations: 'disabled' });
    if (faults.length > 0) throw new Error(`${shot}: ${faults.join('; ')}`);
    await page.context().close();
  }
} finally {
  await browser.close();
  await pipeline.close();
  await world.close();
}
