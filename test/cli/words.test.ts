// Commands take their words from their routes. A command states only words that its route does not
// have, so that help and the reference of the API never drift apart.
import { describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { type Operation, spoken } from '../../commands/base/verbs.ts';
import type { Answering } from '../../src/core/api/route.ts';
import { commandClass } from '../docs/write.ts';

/** Longest summary of help (test/docs/help.test.ts). */
const longest = 60;

/** Words that add nothing: every command works in one organization. */
const empty = new Set(['a', 'an', 'the', 'of', 'organization']);

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];
  return words.map((word) => word.replace(/ies$/, 'y').replace(/s$/, ''));
}

/** Returns whether each word of `text` is among the words of `given`. */
function restates(text: string, given: string): boolean {
  const known = new Set(wordsOf(given));
  const added = wordsOf(text).filter((word) => !empty.has(word) && !known.has(word));
  return text !== '' && added.length === 0;
}

interface Stated {
  summary?: string | undefined;
  description?: string | undefined;
}

/** Returns the words of a command that its route has as well. */
function restated({ summary = '', description = '' }: Stated, route: Answering<unknown>): string[] {
  const fits = route.summary.length <= longest;
  return [
    ...(fits && restates(summary, route.summary) ? [summary] : []),
    ...(restates(description, spoken(route)) ? [description] : []),
  ];
}

async function operationOf(id: string): Promise<Operation | undefined> {
  return ((await commandClass(id)) as { operation?: Operation }).operation;
}

const commands = await Promise.all(
  listCommandIds().map(async (id) => ({ id, operation: await operationOf(id) })),
);

describe('the words of commands', () => {
  it('are nowhere the words of the route again', () => {
    const found = commands.flatMap(({ id, operation }) => {
      const texts = operation ? restated(operation.words, operation.route) : [];
      return texts.map((text) => `${id}: ${text}`);
    });
    expect(commands.filter(({ operation }) => operation).length).toBeGreaterThan(140);
    expect(found).toEqual([]);
  });

  it('are found where they restate the words of a route in another order', async () => {
    const route = (await operationOf('brands:create'))?.route;
    if (!route) throw new Error('brands create has no route');
    expect(restated({ summary: 'Create the brand of an organization' }, route)).toHaveLength(1);
    expect(restated({ summary: 'Create a brand with a footer' }, route)).toEqual([]);
    const description = 'An organization has its first brand as default';
    expect(restated({ description: 'The default is the first brand' }, route)).toHaveLength(1);
    expect(restated({ description }, route)).toEqual([]);
  });
});
