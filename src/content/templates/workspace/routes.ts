// The HTTP operations on the workspace of a template (specification 4.6).
import { area } from '../../../core/api/area.ts';
import { fileOutput } from '../../../core/api/file-schema.ts';
import { idPath } from '../../../core/api/resource-schema.ts';
import { ConflictError } from '../../../platform/errors.ts';
import { packLimits } from '../../git/pack-read.ts';
import { templateNoun } from '../schema.ts';
import { diffCommits, listHistory } from './history.ts';
import { bundleType, exportBundle, importStream } from './incoming.ts';
import {
  diffOutput,
  diffQuery,
  discardInput,
  historyOutput,
  historyQuery,
  restoreInput,
  restoreOutput,
  saveInput,
  stageInput,
  viewOutput,
} from './schema.ts';
import {
  discardWorkspace,
  restoreCommit,
  saveWorkspace,
  showWorkspace,
  stageFiles,
} from './workspace.ts';

const at = area('templates', { noun: templateNoun });
const path = '/v1/templates/{id}/workspace';
const params = idPath(templateNoun, 'a template');

export const workspaceRoutes = {
  show: at.get(path, {
    name: 'getTemplateWorkspace',
    summary: 'Show the workspace of a template with its files',
    description:
      'A workspace is a git repository: `files` are those of the head of main, with the staged ' +
      'ones over them.',
    params,
    output: viewOutput,
    run: (app, { caller, params: { id } }) => showWorkspace(app, caller, id),
  }),
  stage: at.put(`${path}/files`, {
    name: 'stageTemplateFiles',
    summary: 'Stage files of a template',
    description: 'Sends use them after a save and a publication.',
    params,
    body: stageInput,
    output: viewOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => stageFiles(app, caller, id, body),
  }),
  save: at.post(`${path}/save`, {
    name: 'saveTemplateWorkspace',
    summary: 'Save the staged files of a template as a commit',
    description: 'Without staged files it changes nothing.',
    params,
    body: saveInput,
    output: viewOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => saveWorkspace(app, caller, id, body),
  }),
  discard: at.post(`${path}/discard`, {
    name: 'discardTemplateWorkspace',
    summary: 'Discard the staged files of a template',
    params,
    body: discardInput,
    output: viewOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => discardWorkspace(app, caller, id, body),
  }),
  restore: at.post(`${path}/restore`, {
    name: 'restoreTemplateCommit',
    summary: 'Stage the files of an earlier commit of a template',
    description:
      'They replace all staged files. A later save appends a commit: history never changes.',
    params,
    body: restoreInput,
    output: restoreOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => restoreCommit(app, caller, id, body),
  }),
  history: at.get(`${path}/history`, {
    name: 'listTemplateHistory',
    summary: 'List the commits of a template',
    description: 'Newest first.',
    params,
    query: historyQuery,
    output: historyOutput,
    run: (app, { caller, params: { id }, query }) => listHistory(app, caller, id, query),
  }),
  diff: at.get(`${path}/diff`, {
    name: 'diffTemplateCommits',
    summary: 'Compare two commits of a template, or one with the draft',
    description:
      'A diff is cut off at 100 KB of a file and 1 MB in all; a differing part of more than ' +
      '10,000 lines has none.',
    params,
    query: diffQuery,
    output: diffOutput,
    run: (app, { caller, params: { id }, query }) => diffCommits(app, caller, id, query),
  }),
  exportBundle: at.get(`${path}/bundle`, {
    name: 'downloadTemplateBundle',
    summary: 'Download the history of a template as a git bundle',
    description: 'For `git clone FILE`. Up to 32 MB; `git clone` of its URL has no limit.',
    params,
    sendsFile: true,
    output: fileOutput,
    run: (app, { caller, params: { id } }) => exportBundle(app, caller, id),
  }),
  importBundle: at.put(`${path}/bundle`, {
    name: 'uploadTemplateBundle',
    summary: 'Take commits of a template from a git bundle',
    description:
      'Its main moves ours if it extends it and no staged file is in the way. Else it is pending: ' +
      'its files are merged into the draft, `conflicts` lists those that both changed, and a save ' +
      'makes the merge commit.',
    params,
    takes: { types: [bundleType, 'application/octet-stream'], mostBytes: packLimits.bytes },
    output: viewOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, stream }) => importStream(app, caller, id, stream),
  }),
};
