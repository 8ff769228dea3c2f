// The five verbs of a noun: a command is its words, the schema of its flags and the route that it runs
// through. The path of its file is its name.
import { Args, type Interfaces } from '@oclif/core';
import type { z } from 'zod';
import type { Deleted } from '../../src/api/resource-schema.ts';
import type { Caller } from '../../src/api/route.ts';
import type { App } from '../../src/app.ts';
import { confirmed } from './ask.ts';
import { given, readData } from './body.ts';
import { BaseCommand, type CommonFlags, dataFlag, yesFlag } from './command.ts';
import { type Listing, type Looks, print, printCard, printList } from './output.ts';
import { callRoute, type LoadRoute, runRoute } from './route.ts';
import { type FlagNames, flagsOf } from './schema-flags.ts';
import { withCaller } from './session.ts';

/** Help texts, arguments and flags of a command. */
interface Words {
  summary: string;
  description?: string;
  /** Description and command. */
  examples: readonly (readonly [string, string])[];
  args?: Interfaces.ArgInput;
  flags?: Interfaces.FlagInput;
}

/** Parsed arguments and flags. */
interface Typed {
  args: Record<string, string | undefined>;
  flags: CommonFlags & Record<string, unknown>;
}

/** Builds a command of these words; errors of `run` end it as all others do. */
function command(words: Words, run: (typed: Typed) => Promise<void>) {
  return class extends BaseCommand {
    static override summary = words.summary;
    static override description = words.description;
    static override examples = words.examples.map(([description, line]) => ({
      description,
      command: line,
    }));
    static override args = words.args ?? {};
    static override flags = words.flags ?? {};

    async run(): Promise<void> {
      const { args, flags } = await this.parse(this.ctor as typeof BaseCommand);
      await run({ args, flags });
    }
  };
}

/** The argument of commands on one thing. */
export function idArg(description: string) {
  return { id: Args.string({ description, required: true }) };
}

/** Returns the typed values by their field; `fields` maps the name of a flag or argument to it. */
function valuesOf(typed: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, string>>) {
  const entries = Object.entries(fields).map(([name, field]) => [field, typed[name]]);
  return given(Object.fromEntries(entries));
}

/** Presentation of one resource to people; `fields` as dotted paths. */
interface Card<Answer> {
  card?: readonly string[];
  /** Said below the card. */
  note?: string;
  /** Text in place of the card. */
  view?: (answer: Answer) => string | Promise<string>;
}

function show<Answer extends object>(
  flags: CommonFlags,
  answer: Answer,
  { card = [], note, view }: Card<Answer>,
): Promise<void> {
  if (view) return print(flags, answer, () => view(answer));
  return printCard(flags, answer, card, note);
}

/** Finds the id of a resource that people also name otherwise. @throws ResourceNotFoundError */
export type Find = (app: App, caller: Caller, named: string) => Promise<string>;

/** The first argument. */
async function paramsOf(app: App, caller: Caller, { args }: Typed, find?: Find) {
  const [named = ''] = Object.values(args);
  return { id: find ? await find(app, caller, named) : named };
}

interface ListWords<Answer, Query extends z.ZodObject> extends Words {
  /** Query of the route; each of its fields is a flag. */
  query: Query;
  names?: FlagNames<Query>;
  route: LoadRoute<Answer>;
  columns: readonly string[];
  /** Says how to get the first item. */
  whenEmpty: string;
  /** Rows and a note that show the page to people, if other than its items. */
  looks?: (page: Answer) => Looks;
}

/** Lists a page; the flags are filters. */
export function listCommand<Answer extends Listing, Query extends z.ZodObject>(
  words: ListWords<Answer, Query>,
) {
  const derived = flagsOf(words.query, words.names);
  const flags = { ...derived.flags, ...words.flags };
  return command({ ...words, flags }, async (typed) => {
    const query = valuesOf(typed.flags, derived.fields);
    const page = await callRoute(typed.flags, words.route, { query });
    await printList(typed.flags, page, words.columns, words.whenEmpty, words.looks?.(page));
  });
}

interface ShowWords<Answer> extends Words, Card<Answer> {
  args: Interfaces.ArgInput;
  route: LoadRoute<Answer>;
  find?: Find;
}

/** Shows the answer of a route about one resource; the route may also act on it. */
export function showCommand<Answer extends object>(words: ShowWords<Answer>) {
  return command(words, (typed) =>
    withCaller(typed.flags, async (app, caller) => {
      const params = await paramsOf(app, caller, typed, words.find);
      await show(typed.flags, await runRoute(app, caller, await words.route(), { params }), words);
    }),
  );
}

interface BodyWords<Body extends z.ZodObject> extends Words {
  /** Body of the route; its flat fields are flags. */
  body: Body;
  names?: FlagNames<Body>;
  /** Builds the parts of the body that no derived flag expresses, often from `flags` of the command. */
  more?: (flags: Record<string, unknown>) => object | Promise<object>;
}

/** Flags of a body, besides the fields that are arguments, and what builds it from the typed words. */
function bodyInput<Body extends z.ZodObject>(words: BodyWords<Body>, args: Interfaces.ArgInput = {}) {
  const argFields = Object.fromEntries(Object.keys(args).map((name) => [name, name]));
  const derived = flagsOf(words.body, words.names);
  for (const name of Object.keys(args)) delete derived.flags[name];
  return {
    flags: { ...derived.flags, ...words.flags, ...dataFlag },
    /** Lays arguments and flags over `--data`. */
    read: async (typed: Typed): Promise<object> => ({
      ...(await readData(typed.flags.data as string | undefined)),
      ...valuesOf(typed.flags, derived.fields),
      ...valuesOf(typed.args, argFields),
      ...(await words.more?.(typed.flags)),
    }),
  };
}

interface CreateWords<Answer, Body extends z.ZodObject> extends BodyWords<Body>, Card<Answer> {
  route: LoadRoute<Answer>;
}

/** Creates something. */
export function createCommand<Answer extends object, Body extends z.ZodObject>(
  words: CreateWords<Answer, Body>,
) {
  const input = bodyInput(words, words.args);
  return command({ ...words, flags: input.flags }, async (typed) => {
    const body = await input.read(typed);
    await show(typed.flags, await callRoute(typed.flags, words.route, { body }), words);
  });
}

interface UpdateWords<Answer, Body extends z.ZodObject> extends CreateWords<Answer, Body> {
  args: Interfaces.ArgInput;
  find?: Find;
}

/** Changes one thing. */
export function updateCommand<Answer extends object, Body extends z.ZodObject>(
  words: UpdateWords<Answer, Body>,
) {
  const input = bodyInput(words);
  return command({ ...words, flags: input.flags }, async (typed) => {
    const body = await input.read(typed);
    await withCaller(typed.flags, async (app, caller) => {
      const params = await paramsOf(app, caller, typed, words.find);
      const route = await words.route();
      await show(typed.flags, await runRoute(app, caller, route, { params, body }), words);
    });
  });
}

interface DeleteWords<Shown> extends Words {
  args: Interfaces.ArgInput;
  /** Shows the resource before its removal. */
  shows: LoadRoute<Shown>;
  route: LoadRoute<Deleted>;
  question: (shown: Shown) => string;
  /** Returns the closing line, where the answer alone is too short. */
  done?: (answer: Deleted, shown: Shown) => string;
  find?: Find;
}

/** Takes one thing away for good, once the person agrees. */
export function deleteCommand<Shown>(words: DeleteWords<Shown>) {
  return command({ ...words, flags: yesFlag }, (typed) =>
    withCaller(typed.flags, async (app, caller) => {
      const params = await paramsOf(app, caller, typed, words.find);
      const shown = await runRoute(app, caller, await words.shows(), { params });
      await confirmed(words.question(shown), typed.flags.yes === true);
      const answer = await runRoute(app, caller, await words.route(), { params });
      await print(typed.flags, answer, () => words.done?.(answer, shown) ?? answer.message);
    }),
  );
}
