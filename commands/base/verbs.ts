// The five verbs of a noun: a command is its words, its flags and the route that it runs through. The path of
// its file is its name.
import { Args, type Interfaces } from '@oclif/core';
import type { Deleted } from '../../src/api/resource-schema.ts';
import type { Caller } from '../../src/api/route.ts';
import type { App } from '../../src/app.ts';
import { confirmed } from './ask.ts';
import { given, readData } from './body.ts';
import { BaseCommand, type CommonFlags, pageFlags, yesFlag } from './command.ts';
import { type Listing, print, printCard, printList } from './output.ts';
import { callRoute, type LoadRoute, runRoute } from './route.ts';
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

function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** Flags and arguments to fields of the request: where one is not the camelCase of the other, or none. */
type FieldNames = Readonly<Record<string, string | null>>;

/** Returns the typed values of these inputs, by field; leaves out a switch that was not set. */
function fieldsOf(
  inputs: Interfaces.ArgInput | Interfaces.FlagInput = {},
  typed: Readonly<Record<string, unknown>>,
  names: FieldNames = {},
): Record<string, unknown> {
  const entries = Object.entries(inputs).flatMap(([name, input]) => {
    const field = names[name] === undefined ? camelCase(name) : names[name];
    const isUnset = typed[name] === false && !('allowNo' in input && input.allowNo);
    return field === null ? [] : [[field, isUnset ? undefined : typed[name]]];
  });
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

interface ListWords<Answer> extends Words {
  route: LoadRoute<Answer>;
  columns: readonly string[];
  /** Says how to get the first item. */
  whenEmpty: string;
}

/** Lists a page; other flags are filters. */
export function listCommand<Answer extends Listing>(words: ListWords<Answer>) {
  const flags = { ...words.flags, ...pageFlags };
  return command({ ...words, flags }, async (typed) => {
    const page = await callRoute(typed.flags, words.route, { query: fieldsOf(flags, typed.flags) });
    await printList(typed.flags, page, words.columns, words.whenEmpty);
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

interface CreateWords<Answer> extends Words, Card<Answer> {
  flags: Interfaces.FlagInput;
  fields?: FieldNames;
  /** Parts of the body that a single flag cannot express. */
  more?: (flags: Record<string, unknown>) => object | Promise<object>;
  route: LoadRoute<Answer>;
}

/** Builds the body: arguments and flags laid over `--data`. */
async function bodyOf<Answer>(
  { flags, fields, more }: CreateWords<Answer>,
  typed: Typed,
  args?: Interfaces.ArgInput,
): Promise<object> {
  return {
    ...(await readData(typed.flags.data as string | undefined)),
    ...fieldsOf(args, typed.args, fields),
    ...fieldsOf(flags, typed.flags, { ...fields, data: null }),
    ...(await more?.(typed.flags)),
  };
}

/** Makes something. */
export function createCommand<Answer extends object>(words: CreateWords<Answer>) {
  return command(words, async (typed) => {
    const body = await bodyOf(words, typed, words.args);
    await show(typed.flags, await callRoute(typed.flags, words.route, { body }), words);
  });
}

interface UpdateWords<Answer> extends CreateWords<Answer> {
  args: Interfaces.ArgInput;
  find?: Find;
}

/** Changes one thing. */
export function updateCommand<Answer extends object>(words: UpdateWords<Answer>) {
  return command(words, async (typed) => {
    const body = await bodyOf(words, typed);
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
