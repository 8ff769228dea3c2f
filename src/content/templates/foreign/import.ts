// Imports templates of a foreign service as drafts. Each template is translated first: a template
// with a part that Liquid cannot express is left out and reported, so that no mail is sent with a
// gap. An existing slug stays unchanged, so that a second run changes nothing.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { ServiceError } from '../../../platform/errors.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { compileFiles } from '../compile-files.ts';
import { createTemplate } from '../create.ts';
import { findTemplatesBySlugs } from '../queries.ts';
import { longestSlug } from '../schema.ts';
import type { ForeignService, LeftField } from './fields.ts';
import { type ForeignTemplate, readForeign } from './services.ts';
import { toLiquid, type Untranslated } from './to-liquid.ts';

export interface ImportedTemplate {
  name: string;
  slug: string;
  result: 'created' | 'exists' | 'refused';
  /** Reason of a refusal; null if the template was not refused. */
  reason: string | null;
  /** Parts that Liquid cannot express, by field. */
  untranslated: (Untranslated & { field: string })[];
  /** Fields of the export that the draft lacks, with advice. */
  left: LeftField[];
}

export interface TemplateImport {
  dryRun: boolean;
  created: number;
  existing: number;
  refused: number;
  templates: ImportedTemplate[];
}

/** Returns the slug of a name: lower case, with dashes. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, longestSlug)
    .replace(/-$/, '');
  return slug === '' ? 'template' : slug;
}

/**
 * Imports the templates in the text of an export; stores nothing with `dryRun`.
 * @throws ValidationError for a text that is not an export of `service`, or above 1,000 templates
 */
export async function importTemplates(
  app: App,
  caller: Caller,
  { service, text, dryRun }: { service: ForeignService; text: string; dryRun: boolean },
): Promise<TemplateImport> {
  const results: ImportedTemplate[] = [];
  for (const one of readForeign(service, text)) {
    results.push(await importOne(app, caller, { service, one, dryRun, taken: results }));
  }
  const count = (result: ImportedTemplate['result']) =>
    results.filter((one) => one.result === result).length;
  return {
    dryRun,
    created: count('created'),
    existing: count('exists'),
    refused: count('refused'),
    templates: results,
  };
}

interface Import {
  service: ForeignService;
  one: ForeignTemplate;
  dryRun: boolean;
  /** Results of the earlier entries in the file. */
  taken: readonly ImportedTemplate[];
}

async function importOne(
  app: App,
  caller: Caller,
  { service, one, dryRun, taken }: Import,
): Promise<ImportedTemplate> {
  const slug = slugOf(one.alias ?? one.name);
  const base = { name: one.name, slug, reason: null, untranslated: [], left: one.left };
  const refuse = (reason: string, untranslated: ImportedTemplate['untranslated'] = []) =>
    ({ ...base, result: 'refused', reason, untranslated }) as const;
  if (taken.some((other) => other.slug === slug)) return refuse(`${slug} is in the file twice`);
  if (await isTaken(app, caller.organizationId, slug)) return { ...base, result: 'exists' };
  const fields = { subject: one.subject ?? one.name, html: one.html, text: one.text };
  const translated = Object.entries(fields).map(([field, source]) => ({
    field,
    ...(source === null
      ? { liquid: null, untranslated: [] }
      : toLiquid(service, source, one.fallbacks)),
  }));
  const untranslated = translated.flatMap(({ field, untranslated: parts }) =>
    parts.map((part) => ({ field, ...part })),
  );
  if (untranslated.length > 0) {
    return refuse('parts of it have no equal here: change them in the export', untranslated);
  }
  const [subject = '', html = null, plain = null] = translated.map(({ liquid }) => liquid);
  const files = filesOf(subject ?? '', html, plain);
  try {
    if (dryRun) await compileFiles(app, caller.organizationId, files);
    else await createTemplate(app, caller, { name: one.name, slug, files });
    return { ...base, result: 'created' };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 422) throw error;
    return refuse(error.message);
  }
}

/**
 * Returns the files of a draft. Values in three braces are printed unescaped, which the settings
 * must allow.
 */
function filesOf(subject: string, html: string | null, text: string | null): TemplateFiles {
  const isRaw = html?.includes('| raw }}') === true;
  const settings = `subject: ${JSON.stringify(subject)}\n${isRaw ? 'allowRawHtml: true\n' : ''}`;
  return {
    'template.yaml': settings,
    ...(html !== null && { 'body.html': html }),
    ...(text !== null && { 'body.txt': text }),
  };
}

async function isTaken(app: App, organizationId: string, slug: string): Promise<boolean> {
  return (await findTemplatesBySlugs(app.store.db, [organizationId], [slug])).length > 0;
}
