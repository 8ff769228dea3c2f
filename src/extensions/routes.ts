// The HTTP operations on extensions and their versions (specification 4.9).
import { area } from '../core/api/area.ts';
import { deleted, idPath } from '../core/api/resource-schema.ts';
import { ConflictError } from '../platform/errors.ts';
import {
  createExtension,
  deleteExtension,
  getExtension,
  listExtensions,
  updateExtension,
} from './extensions.ts';
import {
  createExtensionInput,
  extensionNoun,
  extensionOutput,
  extensionPage,
  listExtensionsQuery,
  listVersionsQuery,
  publishVersionInput,
  updateExtensionInput,
  versionNoun,
  versionOutput,
  versionPage,
  versionPath,
} from './schema.ts';
import { getVersion, listVersions, publishVersion, withdrawVersion } from './versions.ts';

const at = area('extensions', {
  about: 'Programs of others, with exactly the grants that a person gave them',
  noun: extensionNoun,
});
const atVersions = area('extensions', { noun: versionNoun });
const path = '/v1/extensions';
const params = idPath(extensionNoun, 'an extension');
const versionsPath = `${path}/{id}/versions` as const;
const versionOne = `${versionsPath}/{version}` as const;

export const extensionRoutes = {
  list: at.get(path, {
    name: 'listExtensions',
    summary: 'List the extensions of the organization and the public ones, newest first',
    query: listExtensionsQuery,
    output: extensionPage,
    run: (app, { caller, query }) => listExtensions(app, caller, query),
  }),
  create: at.post(path, {
    name: 'createExtension',
    summary: 'Create an extension',
    description:
      'A program that its maker runs elsewhere: no code of it runs in the daemon. It can be ' +
      'installed once it has a version.',
    body: createExtensionInput,
    output: extensionOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => createExtension(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getExtension',
    summary: 'Show an extension',
    params,
    output: extensionOutput,
    run: (app, { caller, params: { id } }) => getExtension(app, caller, id),
  }),
  update: at.patch(`${path}/{id}`, {
    name: 'updateExtension',
    summary: 'Change the texts of an extension',
    description: 'Its name stays, and so do the grants of its versions.',
    params,
    body: updateExtensionInput,
    output: extensionOutput,
    run: (app, { caller, params: { id }, body }) => updateExtension(app, caller, id, body),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteExtension',
    summary: 'Delete an extension with its versions',
    description: 'A 409 while it is installed in any organization.',
    params,
    output: deleted,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => deleteExtension(app, caller, id),
  }),
};

export const extensionVersionRoutes = {
  list: atVersions.get(versionsPath, {
    name: 'listExtensionVersions',
    summary: 'List the versions of an extension, newest first',
    params,
    query: listVersionsQuery,
    output: versionPage,
    run: (app, { caller, params: { id }, query }) => listVersions(app, caller, id, query),
  }),
  publish: atVersions.post(versionsPath, {
    name: 'publishExtensionVersion',
    summary: 'Publish a version of an extension',
    description:
      'It never changes afterwards. `permissions` and `events` are what it asks for, each by its ' +
      'name, without wildcards. Installations keep their version until a person upgrades them.',
    status: 201,
    params,
    body: publishVersionInput,
    output: versionOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => publishVersion(app, caller, id, body),
  }),
  get: atVersions.get(versionOne, {
    name: 'getExtensionVersion',
    summary: 'Show a version by its number or its id',
    params: versionPath,
    output: versionOutput,
    run: (app, { caller, params: { id, version } }) => getVersion(app, caller, id, version),
  }),
  withdraw: atVersions.post(`${versionOne}/withdraw`, {
    name: 'withdrawExtensionVersion',
    summary: 'Stop offering a version',
    description: 'Its installations keep it. Nobody installs it or upgrades to it any more.',
    params: versionPath,
    output: versionOutput,
    run: (app, { caller, params: { id, version } }) => withdrawVersion(app, caller, id, version),
  }),
};
