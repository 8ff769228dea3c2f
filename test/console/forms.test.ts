// Texts on their way through a form of the console: what a page showed comes back as it was.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainly, withoutSigns } from '../../src/platform/runtime/signs.ts';
import { type Browser, consoleWorld, formOf, type World } from './world.ts';

let world: World;
let browser: Browser;

beforeAll(async () => {
  world = await consoleWorld();
  browser = await world.operator();
});
afterAll(() => world.close());

const texts = [
  'می\u200cخواهم',
  'ශ්\u200dරී',
  'soft\u00adhyphen',
  '\ufefffirst',
  'invoice\u202efdp.exe',
  '👩\u200d💻',
  '⟨U+0041⟩ ⟨U+FFFFFF⟩ ⟨U+20⟩',
];

describe('a text in a form', () => {
  it.each(texts)('is %j again after its signs', (text) => {
    expect(withoutSigns(plainly(text))).toBe(text);
  });

  it('stays in a contact that is saved as it is', async () => {
    const name = 'می\u200cخواهم';
    const customFields = { 'ශ්\u200dරී': 'One\nTwo' };
    const contact = { email: 'mina@example.com', name, profile: { customFields } };
    const { id } = await world.api('POST', '/v1/contacts', contact);
    const url = `/console/contacts/${id}`;
    const { body } = await browser.get(url);
    expect(body).not.toContain('\u200c');
    const { status } = await browser.post(url, formOf(body, 'change') ?? {});
    expect([status, await world.api('GET', `/v1/contacts/${id}`)]).toEqual([
      303,
      expect.objectContaining({ name, profile: expect.objectContaining({ customFields }) }),
    ]);
  });

  it('finds by a filter, also where its name is repeated', async () => {
    const { id } = await world.api('POST', '/v1/contacts', {
      email: 'x@example.com',
      tags: ['a\u200cb'],
    });
    for (const query of ['tag=a⟨U%2B200C⟩b', 'tag=other&tag=a%E2%80%8Cb']) {
      const { status, body } = await browser.get(`/console/contacts?${query}`);
      expect([status, body.includes(id)]).toEqual([200, true]);
    }
  });
});
