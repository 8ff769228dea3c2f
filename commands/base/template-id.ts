// Templates in arguments: by id, or by slug as people prefer.
import { Args } from '@oclif/core';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { Find } from './verbs.ts';

/** The argument of commands on one template. */
export const templateArg = {
  template: Args.string({ description: 'Id (tmpl_…) or slug of the template', required: true }),
};

/** Returns the id of the template with this slug; returns any other text unchanged. */
export async function templateId(app: App, caller: Caller, idOrSlug: string): Promise<string> {
  const { findTemplatesBySlugs } = await import('../../src/content/templates/queries.ts');
  const [found] = await findTemplatesBySlugs(app.store.db, [caller.organizationId], [idOrSlug]);
  return found?.id ?? idOrSlug;
}

/** The argument as the parameter of the path. */
export const findTemplate: Find = templateId;

export const templateCard = [
  ...['id', 'name', 'slug', 'channel', 'description', 'status', 'isActive', 'version'],
  ...['familyId', 'publishedAt', 'archivedAt', 'createdAt', 'updatedAt'],
];
