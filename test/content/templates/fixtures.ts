// Templates for tests.
import type { CreateTemplate, Template } from '../../../src/content/templates/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { save, stage } from './workspace/fixtures.ts';

let serial = 0;

/** Returns a slug that no other template of the process has. */
export function newSlug(word = 'shipped'): string {
  serial += 1;
  return `${word}-${serial}`;
}

/** Body of a template with this slug. */
export function templateBody(slug: string, more: Partial<CreateTemplate> = {}): CreateTemplate {
  return {
    slug,
    subject: 'Order {{ number }}',
    html: '<p>Dear {{ contact.firstName }}, order {{ number }} is on its way.</p>',
    ...more,
  };
}

/** Creates a template over HTTP. */
export async function makeTemplate(
  api: HttpApi,
  more: Partial<CreateTemplate> = {},
): Promise<Template> {
  const slug = newSlug();
  const { status, body } = await api.post<Template>('/v1/templates', templateBody(slug, more));
  if (status !== 201) throw new Error(`${slug}: ${JSON.stringify(body)}`);
  return body;
}

/** An answer that refuses. */
export interface Refusal {
  _tag: string;
  message: string;
  resource?: string;
  id?: string;
  fields?: Record<string, string[]>;
}

/** Stages files and saves them as a commit. */
export async function saveFiles(
  app: App,
  caller: Caller,
  id: string,
  files: Record<string, string | null>,
): Promise<void> {
  await stage(app, caller, id, files);
  await save(app, caller, id);
}
