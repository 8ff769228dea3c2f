// Pages after a refusal: every filter and every form of every page comes back with what was typed,
// and says the fault in the title and, where the API names the field, at the field.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillPages, findPaths } from './fixture.ts';
import { type Browser, consoleWorld, elementsOf, problemOf, type World } from './world.ts';

let world: World;
let operator: Browser;
let paths: readonly string[];

beforeAll(async () => {
  world = await consoleWorld();
  operator = await world.operator();
  await fillPages(
    (path, body, key) => world.api('POST', path, body, key),
    await world.firstMailbox(),
  );
  const found = await findPaths(async (path) => (await operator.get(path)).body);
  paths = [...found.values()].filter(
    (path) => !/\/(?:records|files|look|html|hits|passkey)\b/.test(path),
  );
});
afterAll(() => world.close());

type Element = ReturnType<typeof elementsOf>[number];

const attributeOf = ({ attrs = [] }: Element, name: string) =>
  attrs.find((one) => one.name === name)?.value;

const textOf = (node: Element): string =>
  (node.childNodes ?? []).map((one) => one.value ?? textOf(one)).join('');

const within = (node: Element): Element[] =>
  (node.childNodes ?? []).flatMap((child) => [child, ...within(child)]);

const isField = (node: Element) =>
  ['input', 'textarea'].includes(node.nodeName) &&
  attributeOf(node, 'name') !== undefined &&
  !['hidden', 'checkbox', 'radio', 'file', 'password'].includes(
    attributeOf(node, 'type') ?? 'text',
  );

const typedIn = (node: Element) => attributeOf(node, 'value') ?? textOf(node);

interface Seen {
  method: string;
  action: string;
  fields: Record<string, string>;
  typed: string[];
}

/** Returns the forms of a page with at least one field to type in. */
function formsOf(body: string): Seen[] {
  return elementsOf(body)
    .filter(({ nodeName }) => nodeName === 'form')
    .map((form) => {
      const inside = within(form).filter((one) => one.attrs);
      const named = inside.filter((one) => attributeOf(one, 'name') !== undefined);
      const entries = named
        .filter((one) => isField(one) || attributeOf(one, 'type') === 'hidden')
        .map((one) => [attributeOf(one, 'name') ?? '', typedIn(one)] as const);
      return {
        method: attributeOf(form, 'method') ?? 'get',
        action: attributeOf(form, 'action') ?? '',
        fields: Object.fromEntries(entries),
        typed: named.filter(isField).map((one) => attributeOf(one, 'name') ?? ''),
      };
    })
    .filter(({ typed }) => typed.length > 0);
}

const titleOf = (body: string) => /<title>([^<]*)/.exec(body)?.[1] ?? '';

/** Returns the values of the fields with a name. */
const shownIn = (body: string, name: string) =>
  elementsOf(body)
    .filter((node) => isField(node) && attributeOf(node, 'name') === name)
    .map(typedIn);

const isMarked = (body: string, name: string) =>
  elementsOf(body).some(
    (node) => attributeOf(node, 'name') === name && attributeOf(node, 'aria-invalid') === 'true',
  );

const isFolded = (node: Element) =>
  (node.nodeName === 'details' && attributeOf(node, 'open') === undefined) ||
  attributeOf(node, 'popover') !== undefined;

/** Tells whether a form of the action stands open, also without a script. */
function isOpen(body: string, action?: string): boolean {
  const posts = (form: Element) =>
    form.nodeName === 'form' &&
    within(form).some((one) => one.attrs && attributeOf(one, 'value') === action);
  const all = elementsOf(body);
  const folded = new Set(all.filter(isFolded).flatMap(within));
  return all.some((one) => posts(one) && !folded.has(one));
}

describe('a refused page', () => {
  it('comes back with the filter that was typed, and the fault at the field', async () => {
    let [refused, marked] = [0, 0];
    for (const path of paths) {
      const { body } = await operator.get(path);
      for (const form of formsOf(body).filter(({ method }) => method === 'get')) {
        for (const name of form.typed) {
          const value = 'x'.repeat(2_000);
          const to = form.action || path.split('?')[0];
          const answer = await operator.get(`${to}?${new URLSearchParams({ [name]: value })}`);
          if (answer.status === 200) continue;
          refused += 1;
          expect([path, name, titleOf(answer.body)]).toEqual([
            path,
            name,
            expect.stringMatching(/^Error: /),
          ]);
          expect([path, name, shownIn(answer.body, name).includes(value)]).toEqual([
            path,
            name,
            true,
          ]);
          if (isMarked(answer.body, name)) marked += 1;
        }
      }
    }
    expect(refused).toBeGreaterThan(15);
    expect(refused - marked).toBeLessThanOrEqual(1);
  });

  it('comes back with the form that was typed, and the fault in the title', async () => {
    let [refused, marked] = [0, 0];
    for (const path of paths) {
      const { body } = await operator.get(path);
      for (const form of formsOf(body).filter(({ method }) => method === 'post')) {
        // The texts are longer than any field takes.
        const long = Object.fromEntries(form.typed.map((name) => [name, `${name} `.repeat(9_000)]));
        const to = form.action || path;
        const answer = await operator.post(to, { ...form.fields, ...long });
        const action = form.fields['_action'];
        if (answer.status < 400 || problemOf(answer.body) === undefined) continue;
        refused += 1;
        expect([path, action, titleOf(answer.body)]).toEqual([
          path,
          action,
          expect.stringMatching(/^Error: /),
        ]);
        for (const [name, value] of Object.entries(long)) {
          const shown = shownIn(answer.body, name).map((one) => one.trim());
          expect([path, action, name, shown.includes(value.trim())]).toEqual([
            path,
            action,
            name,
            true,
          ]);
        }
        if (form.typed.some((name) => isMarked(answer.body, name))) marked += 1;
        expect([path, action, isOpen(answer.body, action)]).toEqual([path, action, true]);
      }
    }
    expect(refused).toBeGreaterThan(20);
    expect(marked).toBeGreaterThan(10);
  });
});
