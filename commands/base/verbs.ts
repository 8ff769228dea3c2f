// Builds the commands of a noun: list, show, create, update and delete. The route of the operation
// provides texts and flags. A command adds examples and the presentation, and replaces texts of the
// route that do not help people at a terminal. The path of a file is the name of the command.
import { Args, type Interfaces } from '@oclif/core';
import { z } from 'zod';
import type { Deleted } from '../../src/core/api/resource-schema.ts';
import type { Answering } from '../../src/core/api/route.ts';
import type { Session } from './asking.ts';
import { BaseCommand, type CommonFlags, dataFlag, tableFlags, yesFlag } from './command.ts';
import { confirmed } from './input/ask.ts';
import { given, readData } from './input/body.ts';
import { agesAllowed, type FlagNames, flagsOf, readAges } from './input/schema-flags.ts';
import {
  type Listing,
  type Looks,
  print,
  printCard,
  printList,
  writeWarning,
} from './output/output.ts';
import { withSession } from './route.ts';

/** Help texts, arguments and flags of a command. */
interface Words {
  /** Summary; by default the summary of the route. */
  summary?: string;
  /** Description; by default the description of the route (`spoken`). */
  description?: string;
  /** Examples, as pairs of description and command. */
  examples: readonly (readonly [string, string])[];
  args?: Interfaces.ArgInput;
  /** Flags that the schema cannot express. They replace derived flags of the same name. */
  flags?: Interfaces.FlagInput;
}

/** Parsed arguments and flags. */
interface Typed {
  args: Record<string, string | undefined>;
  flags: CommonFlags & Record<string, unknown>;
}

/** Source of the texts and the flags of a command. */
export interface Operation {
  route: Answering<unknown>;
  /** Texts that replace the texts of the route. */
  words: { summary: string | undefined; description: string | undefined };
  /** Maps each flag that the route's schema makes to the field in the query or body. */
  fields: Readonly<Record<string, string>>;
}

/** Matches code and statuses of HTTP: descriptions with them are written for the API. */
const apiWords = /`|\b[1-5]\d\d\b/;

/** Returns the description of a route; empty if it contains code or a status of HTTP. */
export function spoken({ description = '' }: Answering<unknown>): string {
  return apiWords.test(description) ? '' : description;
}

/** Returns the object schema of a body or query; without it, the schema of an empty object. */
function fieldsOf(schema: z.ZodType | undefined): z.ZodObject {
  return schema instanceof z.ZodObject ? schema : z.object({});
}

/** Builds a command that runs this route. Errors of `run` end the command as usual. */
function command(
  words: Words & { route: Answering<unknown>; ending?: string },
  fields: Operation['fields'],
  run: (typed: Typed) => Promise<void>,
) {
  const { route, summary, description, ending = '' } = words;
  return class extends BaseCommand {
    static override asksServer = true;
    /** Lets usage errors name flags, and tests compare the words with those of the route. */
    static operation: Operation = { route, words: { summary, description }, fields };
    static override summary = summary ?? route.summary;
    static override description = `${description ?? spoken(route)} ${ending}`.trim();
    static override examples = words.examples.map(([text, line]) => ({
      description: text,
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

/** Returns the argument of commands on a single resource. */
export function idArg(description: string) {
  return { id: Args.string({ description, required: true }) };
}

/** Returns the typed values by field; `fields` maps the name of a flag or argument to the field. */
export function valuesOf(
  typed: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, field]) => [field, typed[name]]);
  return given(Object.fromEntries(entries));
}

/** Presentation of a resource to people; `fields` as dotted paths. */
interface Card<Answer> {
  card?: readonly string[];
  /** Text below the card. */
  note?: string;
  /** Text instead of the card. */
  view?: (answer: Answer, flags: Record<string, unknown>) => string | Promise<string>;
  /** Returns a warning for standard error, also with `--json`; null without a warning. */
  warning?: (answer: Answer) => string | null;
}

async function show<Answer extends object>(
  flags: CommonFlags,
  answer: Answer,
  { card = [], note, view, warning }: Card<Answer>,
): Promise<void> {
  if (view) await print(flags, answer, () => view(answer, { ...flags }));
  else await printCard(flags, answer, card, note);
  const text = warning?.(answer) ?? null;
  if (text !== null) writeWarning(text);
}

/**
 * Finds a resource by a name that people may give in place of the id. Returns the id, or the
 * parameters of the path. @throws ResourceNotFoundError
 */
export type Find = (session: Session, named: string) => Promise<string | object>;

/** Returns the parameters of the path: the first argument names the resource. */
async function paramsOf(session: Session, { args }: Typed, find?: Find): Promise<object> {
  const [named = ''] = Object.values(args);
  const found = find ? await find(session, named) : named;
  return typeof found === 'string' ? { id: found } : found;
}

interface ReadWords<Answer> extends Words {
  find?: Find;
  /** Flags for fields of the query, if they differ from the derived names. */
  names?: FlagNames;
  /**
   * Fields of the query with times, in which flags also accept an age, such as `10m`. By default,
   * the bounds of time.
   */
  ages?: readonly string[];
  route: Answering<Answer>;
}

/** Query fields with a bound of time: all lists of the API use these names. */
const timeFields = ['after', 'since', 'before', 'until'];

/**
 * Runs a route without a body, on the resource of the first argument if the command has an
 * argument.
 */
function readCommand<Answer>(
  words: ReadWords<Answer>,
  shown: (flags: CommonFlags, answer: Answer) => Promise<void>,
) {
  const { ages = timeFields, args, find, route } = words;
  const derived = flagsOf(fieldsOf(route.query), words.names);
  const flags = { ...agesAllowed(derived, ages), ...words.flags };
  return command({ ...words, flags }, derived.fields, async (typed) => {
    const query = readAges(valuesOf(typed.flags, derived.fields), derived, ages);
    const answer = await withSession(typed.flags, async (session) => {
      const params = args ? await paramsOf(session, typed, find) : {};
      return session.ask(route, { params, query });
    });
    await shown(typed.flags, answer);
  });
}

interface ListWords<Answer> extends ReadWords<Answer> {
  columns: readonly string[];
  /** Text for an empty list; it names the next step. */
  whenEmpty: string;
  /** Returns rows, columns or a note for people, if they differ from the items. */
  looks?: (page: Answer) => Looks;
}

/** Builds a command that lists a page; the flags are filters. */
export function listCommand<Answer extends Listing>(words: ListWords<Answer>) {
  const flags = { ...tableFlags, ...words.flags };
  const Command = readCommand({ ...words, flags }, (given, page) =>
    printList(given, page, words.columns, words.whenEmpty, words.looks?.(page)),
  );
  // For the test that draws the table of each list.
  return Object.assign(Command, { columns: words.columns });
}

/** Builds a command that shows the answer of a route. The route may also change the resource. */
export function showCommand<Answer extends object>(words: ReadWords<Answer> & Card<Answer>) {
  return readCommand(words, (flags, answer) => show(flags, answer, words));
}

interface BodyWords<Answer> extends Words, Card<Answer> {
  /** Flags for fields of the body, if they differ from the derived names. */
  names?: FlagNames;
  /** Builds the parts of the body that no single flag expresses; `data` is the JSON of `--data`. */
  more?: (flags: Record<string, unknown>, data: object) => object | Promise<object>;
  route: Answering<Answer>;
}

/**
 * Derives the flags of the body and the function that reads it. `argNames`: arguments that are
 * named like a field.
 */
function bodyInput(
  { route, names, more, flags }: Pick<BodyWords<unknown>, 'route' | 'names' | 'more' | 'flags'>,
  argNames: readonly string[],
) {
  const derived = flagsOf(fieldsOf(route.body), names, argNames);
  const argFields = Object.fromEntries(argNames.map((name) => [name, name]));
  return {
    flags: { ...derived.flags, ...flags, ...dataFlag },
    fields: derived.fields,
    /** Overrides `--data` by arguments and flags. */
    read: async (typed: Typed): Promise<object> => {
      const data = await readData(typed.flags.data as string | undefined);
      return {
        ...data,
        ...valuesOf(typed.flags, derived.fields),
        ...valuesOf(typed.args, argFields),
        ...(await more?.(typed.flags, data)),
      };
    },
  };
}

interface CreateWords<Answer> extends BodyWords<Answer> {
  /** Runs after the creation, before the answer is shown. */
  after?: (session: Session, answer: Answer, flags: Record<string, unknown>) => Promise<void>;
}

/** Builds a command that creates a resource. */
export function createCommand<Answer extends object>(words: CreateWords<Answer>) {
  const { read, flags, fields } = bodyInput(words, Object.keys(words.args ?? {}));
  return command({ ...words, flags }, fields, async (typed) => {
    const body = await read(typed);
    const answer = await withSession(typed.flags, async (session) => {
      const created = await session.ask(words.route, { body });
      await words.after?.(session, created, { ...typed.flags });
      return created;
    });
    await show(typed.flags, answer, words);
  });
}

interface UpdateWords<Answer> extends BodyWords<Answer> {
  /** The first argument names the resource; further arguments are fields of the body. */
  args: Interfaces.ArgInput;
  find?: Find;
}

/** Builds a command that changes a resource. */
export function updateCommand<Answer extends object>(words: UpdateWords<Answer>) {
  const { read, flags, fields } = bodyInput(words, Object.keys(words.args).slice(1));
  return command({ ...words, flags }, fields, async (typed) => {
    const body = await read(typed);
    await withSession(typed.flags, async (session) => {
      const params = await paramsOf(session, typed, words.find);
      const answer = await session.ask(words.route, { params, body });
      await show(typed.flags, answer, words);
    });
  });
}

interface DeleteWords<Shown> extends Words {
  args: Interfaces.ArgInput;
  /** Route that reads the resource before the removal, to show it. */
  shows: Answering<Shown>;
  route: Answering<Deleted>;
  /** Returns the question for the person; null if none is needed. */
  question: (shown: Shown) => string | null;
  /**
   * Returns a further sentence for the question, and a function that does work after the removal
   * and returns a last line; null without such work.
   */
  besides?: (
    session: Session,
    shown: Shown,
    flags: Record<string, unknown>,
  ) => Promise<{ question: string; after: () => Promise<string> } | null>;
  /** Returns a last line for people, if the answer alone says too little. */
  done?: (answer: Deleted, shown: Shown) => string;
  find?: Find;
}

const asksFirst = 'Asks for confirmation on a terminal; elsewhere it needs --yes.';

/** Builds a command that deletes a resource for good, once the person agrees. */
export function deleteCommand<Shown>(words: DeleteWords<Shown>) {
  const { route, shows } = words;
  return command(
    { ...words, ending: asksFirst, flags: { ...words.flags, ...yesFlag } },
    {},
    (typed) =>
      withSession(typed.flags, async (session) => {
        const { withWholeIds } = await import('./input/whole-id.ts');
        const named = await paramsOf(session, typed, words.find);
        // Completes the id once for both requests: if a resource is created in between, `@last`
        // would name the new resource, and the command would delete a resource that it has not
        // shown.
        const whole = await withWholeIds(session.findIds, shows.params, named);
        const params = whole as object;
        const shown = await session.ask(shows, { params });
        const more = await words.besides?.(session, shown, { ...typed.flags });
        const question = words.question(shown);
        const asked = more ? `${question} ${more.question}` : question;
        if (asked !== null) await confirmed(asked, typed.flags.yes === true);
        const answer = await session.ask(route, { params });
        const last = await more?.after();
        const done = () => words.done?.(answer, shown) ?? answer.message;
        await print(typed.flags, answer, () => (last ? `${done()}\n${last}` : done()));
      }),
  );
}
