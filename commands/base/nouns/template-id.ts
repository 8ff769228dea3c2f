// Templates in arguments: by id or slug.
import { Args } from '@oclif/core';
import type { TemplateWarning } from '../../../src/content/rendering/compiled.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Find } from '../verbs.ts';

/** The argument of commands on a single template. */
export const templateArg = {
  template: Args.string({ description: 'Id (tmpl_…) or slug of the template', required: true }),
};

/**
 * Returns the id of the template with this slug. Returns an id, or the ending of an id, unchanged.
 * @throws ResourceNotFoundError for an unknown slug
 */
export async function templateId(app: App, caller: Caller, idOrSlug: string): Promise<string> {
  const { findTemplatesBySlugs } = await import('../../../src/content/templates/queries.ts');
  const { templateSlug } = await import('../../../src/content/templates/schema.ts');
  const { isEnding } = await import('../input/whole-id.ts');
  const [found] = await findTemplatesBySlugs(app.store.db, [caller.organizationId], [idOrSlug]);
  if (found) return found.id;
  if (isEnding(idOrSlug) || !templateSlug.safeParse(idOrSlug).success) return idOrSlug;
  throw new ResourceNotFoundError('template', idOrSlug);
}

/** Returns the argument as the parameter of the path. */
export const findTemplate: Find = templateId;

/** Returns advice about a template as a single line: `body.html:3: text (code)`. */
export function warningLine({ code, message, path, line }: TemplateWarning): string {
  const place = [path, line].filter((part) => part !== null).join(':');
  return `${place === '' ? '' : `${place}: `}${message} (${code})`;
}

export const templateCard = [
  ...['id', 'name', 'slug', 'channel', 'description', 'status', 'isActive', 'version'],
  ...['familyId', 'publishedAt', 'archivedAt', 'createdAt', 'updatedAt'],
];
