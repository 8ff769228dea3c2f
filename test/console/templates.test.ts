// The pages of templates: pictures in the list, and sample data as fields beside the preview.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, consoleWorld, elementsOf, type World } from './world.ts';

const contract = {
  type: 'object',
  required: ['name', 'count'],
  properties: {
    name: { type: 'string', title: 'First name', description: 'As on the order' },
    count: { type: 'integer' },
    vip: { type: 'boolean' },
    steps: { type: 'array', items: { type: 'string' } },
    order: { type: 'object' },
  },
};
const sample = {
  name: '<Ada>',
  count: 2,
  vip: true,
  steps: ['Pack', 'Send'],
  order: { no: 'A-17' },
};
const body =
  '<p>{{ name }} has {{ count }} {% if vip %}VIP{% endif %} {{ steps | join: "+" }} {{ order.no }}</p>';

describe('the pages of templates', () => {
  let world: World;
  let browser: Browser;
  let filled: string;
  let plain: string;
  const make = async (slug: string, files: Record<string, string>) =>
    (await world.api('POST', '/v1/templates', { name: `The ${slug}`, slug, files })).id;
  const mail = (html: string) => ({ 'template.yaml': 'subject: Hi', 'body.html': html });
  beforeAll(async () => {
    world = await consoleWorld();
    browser = await world.operator();
    const json = { 'contract.json': JSON.stringify(contract) };
    filled = await make('filled', {
      ...mail(body),
      ...json,
      'sample.json': JSON.stringify(sample),
    });
    plain = await make(
      'plain',
      mail('<p>{{ greeting }} {{ order.no }} {{ contact.firstName }}</p>'),
    );
    await make('strict', { ...mail(body), ...json });
    for (let at = 0; at < 11; at++) await make(`more-${at}`, mail(`<p>${at}</p>`));
  });
  afterAll(() => world.close());

  const page = async (path: string) => (await browser.get(path)).body;
  const preview = (id: string, values: Record<string, string> = {}) =>
    page(`/console/templates/${id}/render?${new URLSearchParams({ draft: '1', ...values })}`);
  const framesIn = (text: string) =>
    elementsOf(text)
      .filter(({ nodeName }) => nodeName === 'iframe')
      .map(({ attrs = [] }) => Object.fromEntries(attrs.map(({ name, value }) => [name, value])));
  /** Returns the fields of the form beside the mail, with their values. */
  const fieldsIn = (text: string) =>
    [...text.matchAll(/<(?:input|select|textarea) name="(\w+:\w+|data)"/g)].map(([, name]) => name);

  it('list twelve pictures at most, each in a sandbox that loads once it is seen', async () => {
    const first = framesIn(await page('/console/templates'));
    expect(first).toHaveLength(12);
    for (const frame of first) {
      expect(frame).toMatchObject({ sandbox: '', loading: 'lazy', tabindex: '-1' });
      expect(frame['title']).toMatch(/^Picture of The /);
      const { status, headers } = await browser.get(frame['src'] ?? '');
      const policy = headers['content-security-policy'];
      expect([status, policy]).toEqual([
        200,
        expect.stringMatching(/^sandbox; default-src 'none'/),
      ]);
    }
    expect(framesIn(await page('/console/templates?page=2'))).toHaveLength(2);
  });

  it('say in the picture why a mail cannot be filled', async () => {
    const { items = [] } = await world.api('GET', '/v1/templates?slug=strict');
    const text = await page(`/console/templates/${items[0]?.id}/look?picture=1&draft=1`);
    expect(text).toMatch(/^<!doctype html>.*No picture: .*name/s);
  });

  it('draw each value as a field of its kind, and nested ones as JSON', async () => {
    const text = await preview(filled);
    expect(fieldsIn(text)).toEqual([
      'text:name',
      'number:count',
      'check:vip',
      'lines:steps',
      'data',
    ]);
    expect(text).toContain('<span>First name</span>');
    expect(text).toContain('As on the order');
    expect(text).toMatch(/name="text:name" type="text" value="&lt;Ada>" required/);
    expect(text).toMatch(/name="lines:steps" rows="3">Pack\nSend</);
    expect(text).toMatch(/name="data"[^>]*>\{[^<]*A-17/);
    const [frame] = framesIn(text);
    expect(await page(frame?.['src'] ?? '')).toContain('&lt;Ada&gt; has 2 VIP Pack+Send A-17');
  });

  it('fill the mail with the values of the fields', async () => {
    const text = await preview(filled, {
      'text:name': 'Grace',
      'number:count': '7',
      'check:vip': 'false',
      'lines:steps': 'One\r\nTwo\r\n',
      data: '{"order":{"no":"B-1"}}',
    });
    expect(text).toMatch(/name="text:name" type="text" value="Grace"/);
    const [frame] = framesIn(text);
    expect(await page(frame?.['src'] ?? '')).toMatch(/Grace has 7 {2}One\+Two B-1/);
  });

  it('say at the field which value does not fit', async () => {
    const text = await preview(filled, { 'text:name': '', 'number:count': 'many' });
    expect(text).toMatch(/class="problem"[^>]*>[^<]*(?:name|count)/);
    expect(text).toContain('value="many"');
    const wrong = await preview(filled, { data: '{"order":' });
    expect(wrong).toContain('is not JSON');
    expect(wrong).toMatch(/name="data"[^>]*>\{&quot;order&quot;:</);
  });

  it('ask for the values that the mail misses where no file names them', async () => {
    const text = await preview(plain);
    expect(fieldsIn(text)).toEqual(['text:greeting', 'data']);
    expect(text).toMatch(/name="data"[^>]*>\{[^<]*order[^<]*no/);
    const [frame] = framesIn(await preview(plain, { 'text:greeting': 'Good morning' }));
    expect(await page(frame?.['src'] ?? '')).toContain('Good morning');
  });
});
