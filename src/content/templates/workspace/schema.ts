// Input and output shapes of the workspace of a template (specification 2.8, 4.6).
import { z } from 'zod';
import { boundedMap } from '../../../core/api/bounded-schema.ts';
import { pageQuery } from '../../../core/api/pagination.ts';
import { fileLimits } from '../../rendering/files.ts';

const longestKey = 255;
const longestMessage = 2_000;
const longestCursor = 200;

const expectedRevision = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'is not a revision: send `revision` of the workspace')
  .meta({ description: 'Revision that the caller read; another one gets a 409' });

const idempotencyKey = z
  .string()
  .min(1)
  .max(longestKey)
  .meta({ description: 'A repeat with the same key gets the same answer, for 24 hours' });

const commit = z.string().regex(/^[a-f0-9]{40}$/, 'is not a commit: 40 hexadecimal characters');

export const stageInput = z
  .strictObject({
    expectedRevision,
    files: boundedMap(z.record(z.string(), z.string().nullable()), fileLimits.files).meta({
      description: 'Files by path; null deletes one',
    }),
    idempotencyKey,
  })
  .meta({
    examples: [
      {
        expectedRevision: '1',
        files: { 'body.html': '<p>Hello {{ name }}</p>', 'body.txt': null },
        idempotencyKey: 'stage-1',
      },
    ],
  });

export const saveInput = z
  .strictObject({
    expectedRevision,
    message: z
      .string()
      .min(1)
      .max(longestMessage)
      .optional()
      .meta({ description: 'Message of the commit (default: the changed paths)' }),
    idempotencyKey,
  })
  .meta({
    examples: [{ expectedRevision: '2', message: 'Greet by name', idempotencyKey: 'save-1' }],
  });

export const discardInput = z
  .strictObject({ expectedRevision, idempotencyKey })
  .meta({ examples: [{ expectedRevision: '2', idempotencyKey: 'discard-1' }] });

export const restoreInput = z
  .strictObject({
    expectedRevision,
    commit: commit.meta({ description: 'A commit of the history of main' }),
    idempotencyKey,
  })
  .meta({
    examples: [
      {
        expectedRevision: '3',
        commit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
        idempotencyKey: 'restore-1',
      },
    ],
  });

export const historyQuery = z.strictObject({
  limit: pageQuery.limit,
  cursor: z
    .string()
    .max(longestCursor)
    .optional()
    .meta({ description: '`nextCursor` of the page before' }),
});

export const diffQuery = z.strictObject({
  from: commit.optional().meta({ description: 'Older commit (default: the head of main)' }),
  to: commit.optional().meta({ description: 'Newer commit (default: the draft)' }),
});

const author = z.object({
  userId: z.string().nullable().meta({ description: 'The key or member; null for the operator' }),
  via: z.enum(['api', 'cli', 'git']).describe('Face through which the change came'),
});

const content = z.string().nullable().meta({ description: 'Null: there is no such file' });

const workspaceOutput = z
  .object({
    projectId: z.string().meta({ description: 'Id of the template' }),
    organizationId: z.string().describe('Organization of the template'),
    ownerEpoch: z.number().meta({ description: 'Always 1: a workspace keeps its owner' }),
    repositoryName: z.string().describe('Name of the git repository'),
    defaultBranch: z.string().describe('Name of the branch that is published'),
    baseCommit: z.string().meta({ description: 'Commit below the staged files' }),
    remoteHead: z.string().meta({ description: 'Head of main, as git clients see it' }),
    pendingRemoteHead: z
      .string()
      .nullable()
      .meta({ description: 'Commit of a bundle that the next save merges' }),
    revision: z.string().meta({ description: 'Grows with each change' }),
    overlay: z
      .record(z.string(), z.string())
      .meta({ description: 'Staged files by path; staged deletions are missing in `files` only' }),
    conflicts: z
      .array(
        z.object({
          path: z.string().describe('Path of the file'),
          base: content,
          draft: content,
          main: content,
        }),
      )
      .meta({ description: 'Files that the draft and main both changed: stage them, then save' }),
    provenance: z
      .object({
        references: z
          .array(
            z.object({
              kind: z.string().describe('Kind of the source'),
              digest: z.string().describe('Digest of the source'),
              locator: z.string().describe('Place of the source'),
            }),
          )
          .meta({ description: 'Sources of the staged files, such as a restored commit' }),
      })
      .describe('Origin of the staged files'),
    mounts: z
      .array(
        z.object({
          kind: z.string().describe('Kind of the folder'),
          root: z.string().describe('Path of the folder'),
          access: z.string().describe('Access to the folder'),
        }),
      )
      .describe('Folders of the workspace'),
    libraryManifestDigest: z.string().describe('Digest of the libraries that templates may use'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
    createdBy: author.describe('Caller that made the workspace'),
    updatedBy: author.describe('Caller that changed it last'),
  })
  .meta({ id: 'TemplateWorkspace', description: 'The editable files of a template' });

export const viewOutput = z
  .object({
    workspace: workspaceOutput.describe('State of the workspace'),
    files: z
      .record(z.string(), z.string())
      .meta({ description: 'All files by path: the head of main with the staged ones over it' }),
  })
  .meta({ id: 'TemplateWorkspaceView', description: 'A workspace with its files' });

export const restoreOutput = z
  .object({
    view: viewOutput.describe('Workspace with the restored files'),
    source: z
      .object({
        digest: z.string().meta({ description: '`sha256:` of the content' }),
        content: z.string().meta({ description: 'The body file of the commit' }),
      })
      .describe('Body file that was restored'),
  })
  .meta({ id: 'TemplateRestore', description: 'A workspace with the files of an earlier commit' });

export const historyOutput = z
  .object({
    items: z
      .array(
        z.object({
          commit: z.string().describe('Hash of the commit'),
          parents: z.array(z.string()).describe('Hashes of the parents'),
          message: z.string().describe('Message of the commit'),
          author: z
            .object({
              name: z.string().describe('Name of the author'),
              email: z.string().describe('Address of the author'),
            })
            .describe('Author of the commit'),
          date: z.string().describe('Time of the commit'),
          version: z
            .number()
            .nullable()
            .meta({ description: 'Number of the newest version published from the commit' }),
        }),
      )
      .describe('Commits of this page'),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page' }),
  })
  .meta({ id: 'TemplateHistory', description: 'Commits of a template, newest first' });

export const diffOutput = z
  .object({
    from: z.string().describe('Hash of the older commit'),
    to: z.string().nullable().meta({ description: 'Null for the draft' }),
    files: z
      .array(
        z.object({
          path: z.string().describe('Path of the file'),
          status: z.enum(['added', 'deleted', 'modified']).describe('Kind of the change'),
          diff: z.string().meta({ description: 'Unified diff' }),
          isTruncated: z.boolean().describe('Whether the diff was cut'),
        }),
      )
      .describe('Changed files'),
  })
  .meta({ id: 'TemplateDiff', description: 'Changed files between two commits' });

export type WorkspaceView = z.output<typeof viewOutput>;
export type StageInput = z.output<typeof stageInput>;
export type SaveInput = z.output<typeof saveInput>;
export type DiscardInput = z.output<typeof discardInput>;
export type RestoreInput = z.output<typeof restoreInput>;
export type RestoreResult = z.output<typeof restoreOutput>;
export type HistoryQuery = z.output<typeof historyQuery>;
export type History = z.output<typeof historyOutput>;
export type DiffQuery = z.output<typeof diffQuery>;
export type Diff = z.output<typeof diffOutput>;
