// The pages of the queue and of senders: reasons in words, names in the place of ids, and questions
// that stay open while the page follows the queue.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { waitReasons } from '../../src/outbound/deliveries/status.ts';
import { chromiumPath, openPage, startChromium } from './chromium.ts';
import { type Browser, consoleWorld, formOf, type World } from './world.ts';

const week = 7 * 24 * 3_600_000;
const path = await chromiumPath();

describe('the pages of delivery', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    world = await consoleWorld();
    browser = await world.operator();
  });
  afterAll(() => world.close());

  const page = async (at: string) => (await browser.get(at)).body;
  const change = (text: ReturnType<typeof sql>) =>
    world.test.app.store.write((trx) => text.execute(trx));
  const send = (email: string) =>
    world.api('POST', '/v1/messages', {
      channel: 'email',
      to: [{ email }],
      email: { subject: 'x', text: 'x' },
    });
  const rowsOf = (body: string) => body.match(/<tr>.*?<\/tr>/gs) ?? [];
  const rowOf = (body: string, text: string) =>
    rowsOf(body).find((row) => row.replaceAll('<wbr/>', '').includes(text)) ?? '';

  it('say for each reason why mail waits, in words', async () => {
    for (const reason of waitReasons) {
      await send(`${reason}@slow.example`);
      await change(
        sql`update deliveries set wait_reason = ${reason} where email = ${`${reason}@slow.example`}`,
      );
    }
    const body = await page('/console/queue');
    for (const reason of waitReasons) {
      const row = rowOf(body, `${reason}@slow.example`);
      const [, words = ''] = /<\/span><br\/>(.+?)<\/td>/s.exec(row) ?? [];
      expect([reason, words.split(' ').length > 2, words]).toEqual([
        reason,
        true,
        expect.not.stringContaining(reason === 'retry' || reason === 'rate' ? '{' : reason),
      ]);
    }
    expect(rowOf(body, 'retry@slow.example')).toContain('slow.example asks to try again later');
  });

  it('show what the receiver said, mail on hold and its note, and no ids', async () => {
    await change(
      sql`update deliveries set error_message = '450 later, <please>' where email = 'retry@slow.example'`,
    );
    await browser.post('/console/queue', { _action: 'hold', domain: 'held.example', note: 'Down' });
    await send('a@held.example');
    const body = await page('/console/queue');
    expect(rowOf(body, 'retry@slow.example')).toContain('“450 later, &lt;please>”');
    expect(rowOf(body, 'Mail to held.example')).toContain('Down');
    const [main = ''] = /<main.*<\/main>/s.exec(body) ?? [];
    const shown = main.replaceAll(/<[^>]*>/g, ' ');
    expect(shown).not.toMatch(/\b(?:org|dlv|msg|hold)_\w+/);
  });

  it('ask before mail is dropped', async () => {
    const body = await page('/console/queue');
    const [question = ''] =
      /<div popover="auto" id="sure-drop.*?<\/div>\s*<\/form>/s.exec(body) ?? [];
    expect(question).toContain('This recipient gets no more tries.');
    expect(formOf(body, 'drop')).toMatchObject({ _sure: '1' });
  });

  it('give no share of a sender that sent nothing', async () => {
    const { id } = await world.api('POST', '/v1/email/senders', { email: 'jo@other.example' });
    const row = rowOf(await page('/console/senders'), 'jo@other.example');
    expect(row).toMatch(/Bounced">–.*Reported as spam">–/s);
    expect(await page(`/console/senders/${id}`)).not.toContain('0.0 %');
  });

  it.skipIf(path === null)(
    'keep a question open while the queue moves',
    async () => {
      const { url } = await world.http.listen();
      const chromium = await startChromium(path ?? '');
      try {
        const { page: tab } = await openPage(chromium, url);
        const [name = '', value = ''] = browser.cookie.split('=');
        await tab.context().addCookies([{ name, value, url: `${url}/console` }]);
        await tab.goto('/console/queue');
        await tab.getByRole('button', { name: 'Drop …' }).first().click();
        const question = tab.getByText('This recipient gets no more tries.').first();
        await send('new@slow.example');
        let follows = 0;
        tab.on('request', (request) => {
          if (request.url().endsWith('/console/queue')) follows += 1;
        });
        // The third request begins once the second answer is drawn.
        await expect.poll(() => follows, { timeout: 30_000 }).toBeGreaterThan(2);
        expect(await question.isVisible()).toBe(true);
        await tab.getByRole('button', { name: 'Keep it' }).locator('visible=true').click();
        await tab.getByText('new@slow.example').first().waitFor();
      } finally {
        await chromium.close();
      }
    },
    60_000,
  );

  it('say why a sender cannot send: without proof, by an old link, stopped', async () => {
    const { id: domain } = await world.api('POST', '/v1/email/domains', { domain: 'acme.example' });
    await verifyDomain(world.test.app, world.test.operator, domain, { force: true });
    const made = async (email: string) =>
      `/console/senders/${(await world.api('POST', '/v1/email/senders', { email })).id}`;
    const [pending, stopped] = [await made('ann@other.example'), await made('post@acme.example')];
    expect(await page(stopped)).not.toContain('aria-label="It cannot send"');
    await browser.post(stopped, { ...formOf(await page(stopped), 'active') });
    expect(await page(stopped)).toContain('somebody stopped it');
    expect(await page(pending)).toContain('before somebody opens the link that was mailed to');
    await world.test.clock.advance(week);
    browser = await world.operator();
    expect(await page(pending)).toContain('The link in its mail is too old.');
  });
});
