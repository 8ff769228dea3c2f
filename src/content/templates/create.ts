// New templates: from the files of a body, or as copies. The first commit is made before the
// transaction.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Details } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, type FieldErrors, ValidationError } from '../../platform/errors.ts';
import type { TemplateFiles } from '../rendering/compiled.ts';
import { compileFiles } from './compile-files.ts';
import { presentTemplate } from './present.ts';
import { type TemplateRow, templates } from './queries.ts';
import {
  type CreateTemplate,
  type DuplicateTemplate,
  longestName,
  longestSlug,
  type Template,
  templateNoun,
} from './schema.ts';
import { slugTaken } from './templates.ts';
import { beginWorkspace, headFiles, prepareWorkspace } from './workspace/begin.ts';

/** Most slugs that a copy tries. */
const mostCopies = 100;
/** Ending of the name of a copy. */
const copied = ' (copy)';

type Words = Pick<TemplateRow, 'name' | 'channel' | 'description'>;

/** Stores a draft under the first free slug. Returns null if all slugs are taken. */
async function store(
  app: App,
  caller: Caller,
  { words, slugs, files }: { words: Words; slugs: Iterable<string>; files: TemplateFiles },
  details: Details,
): Promise<Template | null> {
  const { organizationId } = caller;
  const id = app.newId(templateNoun);
  const first = await prepareWorkspace(app, caller, id, files);
  const now = app.clock.now();
  const rest = {
    id,
    organization_id: organizationId,
    ...words,
    status: 'draft' as const,
    family_id: null,
    version_id: null,
    version_number: null,
    next_version: 1,
    published_at: null,
    archived_at: null,
    created_at: now,
    updated_at: now,
  };
  return app.store.write(async (trx) => {
    for (const slug of slugs) {
      const row = { ...rest, slug };
      if (!(await templates.insert(trx, row, ['organization_id', 'slug']))) continue;
      await beginWorkspace(app, trx, caller, id, first);
      const change = { subject: id, action: templateNoun.created };
      await record(app, trx, caller, { ...change, details: { name: row.name, slug, ...details } });
      return presentTemplate(row);
    }
    return null;
  });
}

/**
 * Creates a draft. The files are the first commit.
 * @throws ValidationError for files that do not compile; ConflictError if a different template has
 * the slug.
 */
export async function createTemplate(
  app: App,
  caller: Caller,
  input: CreateTemplate,
): Promise<Template> {
  const { slug, name = slug, channel = 'email', description = null } = input;
  const files = filesOfInput(input);
  await compileFiles(app, caller.organizationId, files).catch((error: unknown) => {
    throw error instanceof ValidationError ? inFieldsOf(input, error) : error;
  });
  const words = { name, channel, description };
  const template = await store(app, caller, { words, slugs: [slug], files }, {});
  if (template === null) throw slugTaken(slug);
  return template;
}

/** Yields the slugs that a copy may have: `SLUG-copy`, `SLUG-copy-2` and so on. */
function* copySlugs(slug: string): Generator<string> {
  for (let number = 1; number <= mostCopies; number++) {
    const ending = number === 1 ? '-copy' : `-copy-${number}`;
    yield `${slug.slice(0, longestSlug - ending.length)}${ending}`;
  }
}

/**
 * Copies the saved files of a template to a new draft.
 * @throws ResourceNotFoundError; ConflictError if the given slug, or each slug of a copy, is taken.
 */
export async function duplicateTemplate(
  app: App,
  caller: Caller,
  id: string,
  { name, slug }: DuplicateTemplate,
): Promise<Template> {
  const { db } = app.store;
  const row = await templates.get(db, caller.organizationId, id);
  const { files, commit } = await headFiles(db, id);
  const words = {
    name: name ?? `${row.name.slice(0, longestName - copied.length)}${copied}`,
    channel: row.channel,
    description: row.description,
  };
  const slugs = slug === undefined ? copySlugs(row.slug) : [slug];
  const copy = await store(app, caller, { words, slugs, files }, { copyOf: id, commit });
  if (copy !== null) return copy;
  if (slug !== undefined) throw slugTaken(slug);
  throw new ConflictError('template', `${row.slug} has ${mostCopies} copies: give a slug`);
}

// The files of a new template: given in the request, or made from the subject and the content.

/** Fields of the body, by the file that is made from each. */
const fieldOfFile = {
  'body.html': 'html',
  'body.mjml': 'mjml',
  'body.txt': 'text',
} as const;

/** Returns the text of `template.yaml`. The values are JSON, which is valid YAML. */
function settingsFile({ subject, preheader, brand }: CreateTemplate): string {
  return Object.entries({ subject, preheader, brand })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${JSON.stringify(value)}\n`]))
    .join('');
}

/** Returns the files of a template that is created from this body. */
function filesOfInput(input: CreateTemplate): TemplateFiles {
  if (input.files !== undefined) return input.files;
  const files: Record<string, string> = { 'template.yaml': settingsFile(input) };
  for (const [path, field] of Object.entries(fieldOfFile)) {
    const content = input[field];
    if (content !== undefined) files[path] = content;
  }
  return files;
}

/** Returns the error with fields of the request in place of the files that were made from them. */
function inFieldsOf(input: CreateTemplate, error: ValidationError): ValidationError {
  if (input.files !== undefined || error.fieldErrors === undefined) return error;
  const fields: FieldErrors = {};
  for (const [name, messages] of Object.entries(error.fieldErrors)) {
    const path = name.replace(/^files\./, '');
    const field = path === 'template.yaml' ? 'subject' : fieldOfFile[path as 'body.html'];
    fields[field ?? name] = [...(fields[field ?? name] ?? []), ...messages];
  }
  const [first = ''] = Object.keys(fields);
  return new ValidationError(`${first}: ${fields[first]?.[0]}`, fields);
}
