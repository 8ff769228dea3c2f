// The five routes of a noun: list, create, show, change and delete. Names of operations follow from
// the noun, and summaries from the words of the noun. A route states only differences.
import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Area, AreaRoute } from './area.ts';
import type { Noun } from './noun.ts';
import { type Page, pageOf } from './pagination.ts';
import { type Deleted, deleted, idPath } from './resource-schema.ts';
import type { Caller, RoutePath } from './route.ts';

/** Parts in which a route may differ from the usual route. */
type Differences = Pick<
  AreaRoute<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType>,
  'name' | 'summary' | 'description' | 'permission' | 'throws' | 'deprecated' | 'shownOnce'
>;

/** Differences of a route, and the function that it calls. */
type Calling<Function> = Partial<Differences> & { run: Function };

interface NounParts<
  Query extends z.ZodType,
  Create extends z.ZodType,
  Update extends z.ZodType,
  Output extends z.ZodType,
> {
  /** Singular in summaries, with the article: `a sender identity`. */
  one: string;
  /** Plural in summaries. */
  many: string;
  /** Singular in errors about an id, with the article; default `one`. */
  named?: string;
  output: Output;
  list: Calling<
    (app: App, caller: Caller, query: z.output<Query>) => Promise<Page<z.input<Output>>>
  > & { query: Query };
  create: Calling<
    (app: App, caller: Caller, body: z.output<Create>) => Promise<z.input<Output>>
  > & { body: Create };
  get: Calling<(app: App, caller: Caller, id: string) => Promise<z.input<Output>>>;
  update: Calling<
    (app: App, caller: Caller, id: string, body: z.output<Update>) => Promise<z.input<Output>>
  > & { body: Update };
  delete: Calling<(app: App, caller: Caller, id: string) => Promise<Deleted>>;
}

/** Returns `UnsubscribeGroup` for `unsubscribe-group`. */
function operationNoun({ name }: Noun): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

/** Declares the five routes of the area's noun below `path`. */
export function nounRoutes<
  Query extends z.ZodType,
  Create extends z.ZodType,
  Update extends z.ZodType,
  Output extends z.ZodType,
>(at: Area & { noun: Noun }, path: RoutePath, parts: NounParts<Query, Create, Update, Output>) {
  const { one, many, named = one, output, list, create, get, update } = parts;
  const noun = operationNoun(at.noun);
  const params = idPath(at.noun, named);
  return {
    list: at.get(path, {
      name: `list${noun}s`,
      summary: `List ${many}, newest first`,
      ...list,
      output: pageOf(output),
      run: (app, { caller, query }) => list.run(app, caller, query),
    }),
    create: at.post(path, {
      name: `create${noun}`,
      summary: `Create ${one}`,
      ...create,
      output,
      run: (app, { caller, body }) => create.run(app, caller, body),
    }),
    get: at.get(`${path}/{id}`, {
      name: `get${noun}`,
      summary: `Show ${one}`,
      ...get,
      params,
      output,
      run: (app, { caller, params: { id } }) => get.run(app, caller, id),
    }),
    update: at.patch(`${path}/{id}`, {
      name: `update${noun}`,
      summary: `Change ${one}`,
      ...update,
      params,
      output,
      run: (app, { caller, params: { id }, body }) => update.run(app, caller, id, body),
    }),
    delete: at.delete(`${path}/{id}`, {
      name: `delete${noun}`,
      summary: `Delete ${one}`,
      ...parts.delete,
      params,
      output: deleted,
      run: (app, { caller, params: { id } }) => parts.delete.run(app, caller, id),
    }),
  };
}
