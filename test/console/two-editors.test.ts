// Two people who change the same thing: the second form is refused once, and says what changed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillPages, findPaths } from './fixture.ts';
import { type Browser, consoleWorld, elementsOf, formOf, problemOf, type World } from './world.ts';

let world: World;
let browser: Browser;
let paths: ReadonlyMap<string, string>;

beforeAll(async () => {
  world = await consoleWorld();
  browser = await world.signIn(world.test.apiKey);
  await fillPages(
    (path, body, key) => world.api('POST', path, body, key),
    await world.firstMailbox(),
  );
  paths = await findPaths(async (path) => (await browser.get(path)).body);
});
afterAll(() => world.close());

describe('a form that two people opened', () => {
  const name = async (path: string) =>
    (await world.api('GET', path.replace('/console', '/v1'))) as unknown as { name: string };
  let path: string;
  beforeAll(() => {
    path = paths.get('/contacts/:id') ?? '';
  });

  const drawn = async () => formOf((await browser.get(path)).body, 'change') ?? {};
  const send = (fields: Record<string, string>) => browser.post(path, fields);

  it('is refused to the second person, with what changed and what was typed', async () => {
    const [first, second] = [await drawn(), await drawn()];
    expect((await send({ ...first, name: 'Ann' })).status).toBe(303);
    const refused = await send({ ...second, name: 'Ben' });
    expect([refused.status, problemOf(refused.body)]).toEqual([
      409,
      'Somebody changed this while you typed, so nothing was saved. Name is “Ann” now. Save again to put yours in its place.',
    ]);
    expect(await name(path)).toMatchObject({ name: 'Ann' });
    const again = formOf(refused.body, 'change') ?? {};
    expect(again['name']).toBe('Ben');
    expect((await send(again)).status).toBe(303);
    expect(await name(path)).toMatchObject({ name: 'Ben' });
  });

  it('is saved if both typed the same, and without what it was drawn with', async () => {
    const [first, second, third] = [await drawn(), await drawn(), await drawn()];
    expect((await send({ ...first, name: 'Cleo' })).status).toBe(303);
    expect((await send({ ...second, name: 'Cleo' })).status).toBe(303);
    expect((await send({ ...third, _seen: 'no JSON', name: 'Dora' })).status).toBe(303);
  });

  it('is not refused again after a refusal for another reason', async () => {
    const fields = await drawn();
    const refused = await send({ ...fields, name: 'n'.repeat(2_000) });
    expect(refused.status).toBe(422);
    const again = formOf(refused.body, 'change') ?? {};
    expect((await send({ ...again, name: 'Eve' })).status).toBe(303);
  });
});

describe('the forms of all pages', () => {
  const attribute = (
    { attrs = [] }: { attrs?: readonly { name: string; value: string }[] },
    of: string,
  ) => attrs.find(({ name }) => name === of)?.value;
  const seenOf = (body: string) =>
    elementsOf(body)
      .filter((node) => attribute(node, 'name') === '_seen')
      .map((node) => attribute(node, 'value'));

  it('say the same stored values an hour later', async () => {
    const before = new Map<string, unknown>();
    for (const [path, url] of paths) before.set(path, seenOf((await browser.get(url)).body));
    await world.test.clock.advance(3_600_000);
    for (const [path, url] of paths) {
      expect([path, seenOf((await browser.get(url)).body)]).toEqual([path, before.get(path)]);
    }
    expect([...before.values()].flat().length).toBeGreaterThan(20);
  });
});
