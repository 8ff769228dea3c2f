// The HTTP operations on templates (specification 4.6). Operations on workspaces:
// workspace/routes.ts.
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { idPath } from '../../core/api/resource-schema.ts';
import { ConflictError } from '../../platform/errors.ts';
import { createTemplate, duplicateTemplate } from './create.ts';
import { publishTemplate } from './publish.ts';
import { renderTemplate } from './render.ts';
import {
  createTemplateInput,
  duplicateTemplateInput,
  listTemplatesQuery,
  listVersionsQuery,
  renderedOutput,
  renderTemplateInput,
  templateNoun,
  templateOutput,
  templateVersionOutput,
  updateTemplateInput,
} from './schema.ts';
import {
  archiveTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  listVersions,
  updateTemplate,
} from './templates.ts';

const at = area('templates', {
  about: 'Stored content of mail with its history, filled for each message',
  noun: templateNoun,
});
const path = '/v1/templates';
const params = idPath(templateNoun, 'a template');

export const templateRoutes = {
  ...nounRoutes(at, path, {
    one: 'a template',
    many: 'templates',
    output: templateOutput,
    list: { query: listTemplatesQuery, run: listTemplates },
    create: {
      description:
        'The given content, or all files, are the first commit of its workspace. It is a draft ' +
        'until it is published.',
      body: createTemplateInput,
      throws: [ConflictError],
      run: createTemplate,
    },
    get: { run: getTemplate },
    update: {
      description: 'Its content changes in its workspace.',
      body: updateTemplateInput,
      throws: [ConflictError],
      run: updateTemplate,
    },
    delete: {
      summary: 'Delete a template with its versions and its history',
      description: 'Messages keep its id and their version.',
      run: deleteTemplate,
    },
  }),
  publish: at.post(`${path}/{id}/publish`, {
    name: 'publishTemplate',
    summary: 'Publish the saved files of a template for sends',
    description:
      'Compiles the newest commit. The same commit with the same brand CSS again gives the same ' +
      'version. An archived template comes back.',
    params,
    output: templateOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => publishTemplate(app, caller, id),
  }),
  render: at.post(`${path}/{id}/render`, {
    name: 'renderTemplate',
    summary: 'Show the content that a send would have',
    description:
      'Byte for byte the subject, preheader, HTML and text of a message with these values from ' +
      'the default sender. Stores nothing.',
    permission: 'templates:read',
    params,
    body: renderTemplateInput,
    bodyOptional: true,
    output: renderedOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => renderTemplate(app, caller, id, body),
  }),
  versions: at.get(`${path}/{id}/versions`, {
    name: 'listTemplateVersions',
    summary: 'List the published versions of a template, newest first',
    params,
    query: listVersionsQuery,
    output: pageOf(templateVersionOutput),
    run: (app, { caller, params: { id }, query }) => listVersions(app, caller, id, query),
  }),
  archive: at.post(`${path}/{id}/archive`, {
    name: 'archiveTemplate',
    summary: 'Take a template out of use',
    description: 'Sends that name it are refused until it is published again.',
    params,
    output: templateOutput,
    run: (app, { caller, params: { id } }) => archiveTemplate(app, caller, id),
  }),
  duplicate: at.post(`${path}/{id}/duplicate`, {
    name: 'duplicateTemplate',
    summary: 'Copy the saved files of a template to a new one',
    status: 201,
    params,
    body: duplicateTemplateInput,
    bodyOptional: true,
    output: templateOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => duplicateTemplate(app, caller, id, body),
  }),
};
