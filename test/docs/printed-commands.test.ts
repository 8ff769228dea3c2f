// Every command that the program or a page for users prints parses as it stands: in help, error
// texts, advice, explanations, and in the sentences of docs. Values that the program fills in are
// placeholders. Blocks of commands in docs are parsed by readme.test.ts and run by
// readme-run.test.ts, examples of help are parsed by test/cli/help.test.ts.
import { Parser } from '@oclif/core';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { BaseCommand } from '../../commands/base/command.ts';
import { interpret, listCommandIds } from '../../commands/base/input/typed.ts';
import type { Operation } from '../../commands/base/verbs.ts';
import { codeSpans, userPages } from './markdown.ts';
import { commandClass, read, sources } from './write.ts';

const ids = listCommandIds();
const placeholder = '1';
/** Words behind "svc" in sentences about the program itself. */
const plainWords = new Set([
  'and',
  'daemon1',
  'from',
  'in',
  'is',
  'looks',
  'made',
  'needs',
  'runs',
  'v1',
  'version',
]);

interface Printed {
  file: string;
  command: string;
}

/**
 * Returns the text of a string, a template or a sum of them, with placeholders for computed parts.
 */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return (
      node.head.text + node.templateSpans.map((span) => placeholder + span.literal.text).join('')
    );
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    if (left === null && right === null) return null;
    return (left ?? placeholder) + (right ?? placeholder);
  }
  return ts.isParenthesizedExpression(node) ? textOf(node.expression) : null;
}

/** Returns the texts of a source file, each sum as one. */
function textsIn(file: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node, isInText: boolean) => {
    const text = isInText ? null : textOf(node);
    if (text !== null) texts.push(text);
    const isPart = (text !== null || isInText) && textOf(node) !== null;
    ts.forEachChild(node, (child) => visit(child, isPart));
  };
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true), false);
  return texts;
}

/** Ends a command that stands without quotes in a sentence. */
const sentenceEnd = /[,;:)\n]|\.(?:\s|$)| (?:and|then|or) |\s\|\s/;

/**
 * Finds the commands in a text: up to the closing quote, or to the end of their part of the
 * sentence.
 */
function commandsIn(text: string): string[] {
  const ofAccount = text.replaceAll('sudo -u svc ', 'sudo ');
  const chosen = ofAccount.replaceAll(/\b([a-z]+)(?:\|[a-z0-9]+)+/g, '$1');
  const filled = chosen.replaceAll(/\$\([^)]*\)|…|\[[A-Z-]+\]|\bN\b/g, placeholder);
  return [...filled.matchAll(/(^|[^\w/.-])svc (?=[a-z])/g)].flatMap(
    ({ 0: found, 1: before = '', index }) => {
      const rest = filled.slice(index + found.length);
      const quote = ['"', "'", '`'].includes(before) ? before : null;
      const closing = quote === null ? -1 : rest.indexOf(quote);
      const unquoted = rest.replaceAll(/"[^"]*"|'[^']*'/g, (part) => '_'.repeat(part.length));
      const end = closing >= 0 ? closing : unquoted.search(sentenceEnd);
      const words = (end < 0 ? rest : rest.slice(0, end)).trim();
      const [first = ''] = words.split(/[\s"'`]/);
      return plainWords.has(first) && quote === null ? [] : [words];
    },
  );
}

/** Splits a command into words like a shell, without pipes and redirections. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
  const end = words.findIndex((word) => ['|', '>', '<'].includes(word));
  return end < 0 ? words : words.slice(0, end);
}

const ofProgram: Printed[] = sources.flatMap((file) =>
  textsIn(file)
    .flatMap(commandsIn)
    .map((command) => ({ file, command })),
);
const ofPages: Printed[] = userPages().flatMap(({ name: file, prose }) =>
  codeSpans(prose)
    .flatMap(commandsIn)
    .map((command) => ({ file, command })),
);
/** Lines of blocks that readme-run.test.ts does not run. */
const ofBlocks: Printed[] = userPages().flatMap(({ name: file, fences }) =>
  fences
    .filter(({ language, marks }) => language === 'sh' && marks[0] !== 'run')
    .flatMap(({ text }) => text.split('\n'))
    .flatMap((line) => /(?:^|\$\()(?:[A-Z_]+=\S+ )*svc ([^)]+)/.exec(line)?.[1] ?? [])
    .map((command) => ({ file, command })),
);
const titled = (all: readonly Printed[]) =>
  [...new Map(all.map((one) => [`svc ${one.command}`, one])).entries()].map(
    ([name, { file, command }]) => [name, file, command] as const,
  );

/** Returns the fault of a command, or null. The words of a command alone are a mention of it. */
async function faultOf(command: string): Promise<string | null> {
  try {
    const typed = interpret(shellWords(command), ids);
    if (typed.kind === 'topic' || typed.rest.length === 0 || typed.wantsHelp) return null;
    const Command = await commandClass(typed.id);
    const flags = { ...BaseCommand.baseFlags, ...Command.flags };
    await Parser.parse(typed.rest, { args: Command.args, flags });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Returns whether a command needs nothing but its flags: it creates a resource below no other one.
 * Its values may be refused by more than its parser, so it must be run.
 */
async function createsAlone(command: string): Promise<boolean> {
  const typed = interpret(shellWords(command), ids);
  if (typed.kind !== 'command') return false;
  const { operation } = (await commandClass(typed.id)) as { operation?: Operation };
  return operation?.route.body !== undefined && !operation.route.path.includes('{');
}

describe('a printed command', () => {
  it('is found in the texts of the program', () => {
    expect(ofProgram.length).toBeGreaterThan(300);
    expect(ofPages.length).toBeGreaterThan(80);
    expect(ofBlocks.length).toBeGreaterThan(5);
  });

  it.each(titled(ofProgram))('parses: %s (%s)', async (_name, _file, command) => {
    expect(await faultOf(command)).toBeNull();
  });

  it.each(titled(ofPages))('parses in a page: %s (%s)', async (_name, _file, command) => {
    expect(await faultOf(command)).toBeNull();
  });

  it.each(titled(ofBlocks))('needs no run in a block: %s (%s)', async (_name, _file, command) => {
    expect(await createsAlone(command)).toBe(false);
  });

  it('that creates a resource from its flags needs a run', async () => {
    expect(await createsAlone("keys create --name a --permission 'mailboxes:*'")).toBe(true);
  });

  it.each([
    ['an unknown command', 'lift the block: `svc blocks remove ada@example.com`'],
    ['an unknown flag', 'see "svc queue list --size 5"'],
    ['a missing argument', 'see svc keys update --name a, then go on'],
    ['a word too many', 'svc webhooks events KIND lists the kinds'],
  ])('with %s is a fault', async (_what, text) => {
    const [command = ''] = commandsIn(text);
    expect(await faultOf(command)).not.toBeNull();
  });
});
