// Templates in arguments: by id or slug.
import { Args } from '@oclif/core';
import type { TemplateWarning } from '../../../src/content/rendering/compiled.ts';
import type { Template } from '../../../src/content/templates/schema.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Session } from '../asking.ts';
import type { Find } from '../verbs.ts';

/** The argument of commands on a single template. */
export const templateArg = {
  template: Args.string({ description: 'Id (tmpl_…) or slug of the template', required: true }),
};

/**
 * Returns the id of the template with this slug. Returns an id, or the ending of an id, unchanged.
 * @throws ResourceNotFoundError for an unknown slug
 */
export async function templateId(session: Session, idOrSlug: string): Promise<string> {
  const { templateRoutes } = await import('../../../src/content/templates/routes.ts');
  const { templateSlug } = await import('../../../src/content/templates/schema.ts');
  const { isEnding } = await import('../input/whole-id.ts');
  if (!templateSlug.safeParse(idOrSlug).success) return idOrSlug;
  const query = { slug: idOrSlug, limit: '1' };
  const [found] = (await session.ask(templateRoutes.list, { query })).items;
  if (found) return found.id;
  if (isEnding(idOrSlug)) return idOrSlug;
  throw new ResourceNotFoundError('template', idOrSlug);
}

/** Returns the template with this id; null without it. */
export async function findTemplateWithId(session: Session, id: string): Promise<Template | null> {
  const { templateRoutes } = await import('../../../src/content/templates/routes.ts');
  try {
    return await session.ask(templateRoutes.get, { params: { id } });
  } catch (error) {
    if (error instanceof ResourceNotFoundError) return null;
    throw error;
  }
}

/** Turns the typed id or slug into the path parameter of the route. */
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
