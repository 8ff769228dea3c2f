// A workspace as callers see it (specification 2.8).
import { type Caller, callerId } from '../../../core/api/route.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { fromJson } from '../../../platform/store/db.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { type Conflict, digestOf, draftOf, type Overlay } from './draft.ts';
import type { WorkspaceRow } from './queries.ts';
import type { WorkspaceView } from './schema.ts';

/** Author of a change, and the interface that was used. */
export interface Author {
  /** Id of the key or of the member; null for the operator. */
  userId: string | null;
  via: 'api' | 'cli' | 'git';
}

/** Source of staged files: a restored commit. */
export interface Reference {
  kind: 'commit';
  digest: string;
  locator: string;
}

const defaultBranch = 'main';

/** Digest of the libraries that templates may use: of `{}`, because there are no libraries. */
const libraryManifestDigest = digestOf('{}');

export function authorOf(caller: Caller, via?: 'git'): Author {
  const usual = caller.by.kind === 'operator' ? 'cli' : 'api';
  return { userId: callerId(caller), via: via ?? usual };
}

/** Returns the JSON columns of a row, parsed. */
export function contentOf({ overlay, conflicts, provenance }: WorkspaceRow) {
  return {
    overlay: fromJson<Overlay>(overlay),
    conflicts: fromJson<Conflict[]>(conflicts),
    references: fromJson<Reference[]>(provenance),
  };
}

/** Presents a workspace: the files of the base with the staged files in their place. */
export function viewOf(row: WorkspaceRow, base: TemplateFiles): WorkspaceView {
  const { overlay, conflicts, references } = contentOf(row);
  const shown = Object.entries(overlay).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return {
    workspace: {
      projectId: row.template_id,
      organizationId: row.organization_id,
      ownerEpoch: 1,
      repositoryName: row.template_id,
      defaultBranch,
      baseCommit: row.base_commit,
      remoteHead: row.base_commit,
      pendingRemoteHead: row.pending_head,
      revision: String(row.revision),
      overlay: Object.fromEntries(shown),
      conflicts: conflicts.map(({ path, base: from, draft, main }) => ({
        path,
        base: from,
        draft,
        main,
      })),
      provenance: { references },
      mounts: [{ kind: 'project', root: '/project', access: 'read-write' }],
      libraryManifestDigest,
      createdAt: isoTime(row.created_at),
      updatedAt: isoTime(row.updated_at),
      createdBy: fromJson<Author>(row.created_by),
      updatedBy: fromJson<Author>(row.updated_by),
    },
    files: draftOf(base, overlay),
  };
}
