// The log of changes in words: lists with commas and names, without JSON, ids and names of fields
// of the API. The fixture of all pages makes the changes.
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fillPages } from './fixture.ts';
import { consoleWorld, type World } from './world.ts';

type Node = DefaultTreeAdapterTypes.Node & { childNodes?: Node[]; value?: string };

let world: World;
beforeAll(async () => {
  world = await consoleWorld();
  await fillPages(
    (path, body, key) => world.api('POST', path, body, key),
    await world.firstMailbox(),
  );
});
afterAll(() => world.close());

const textOf = (node: Node): string =>
  node.nodeName === 'details' ? '' : (node.value ?? (node.childNodes ?? []).map(textOf).join(' '));

/** Returns the texts of the rows of the table. */
function rowsOf(node: Node): string[] {
  if (node.nodeName === 'tr') return [textOf(node).replaceAll(/\s+/g, ' ').trim()];
  return (node.childNodes ?? []).flatMap(rowsOf);
}

it('says each change without JSON, ids and names of fields of the API', async () => {
  const browser = await world.operator();
  const { body } = await browser.get('/console/changes');
  const [, ...rows] = rowsOf(parse(body));
  expect(rows.length).toBeGreaterThan(10);
  const strange = /[{}]|\["|":|\b[a-z]{2,12}_[0-9a-z]{20,}|\b[a-z]+[A-Z]\w+:/;
  expect(rows.filter((row) => strange.test(row))).toEqual([]);
  expect(rows.join('\n')).toMatch(/made the (campaign|template|brand) /);
});
