import { formatWhen, plural } from '../parts/format';
import { Menu } from '../parts/Menu';
import { useNow } from '../parts/useNow';
import { closeBranch, rewindToCheckpoint } from './actions';
import { StandingPermissions } from '../requests/StandingPermissions';
import type { OpenedThread } from '../wire/types';
import { grantsOf, pathTo, shortTextOf, type Branch, type ChatContent } from './content';

interface Props {
  id: string;
  page: OpenedThread;
  content: ChatContent;
  canChange: boolean;
  onShow: (branch: string) => void;
  onMerge: (source: string) => void;
  onClose: () => void;
}

function BranchRow({ branch, isClosed, now, ...props }: Props & { branch: Branch; isClosed: boolean; now: number }) {
  const { id, content, canChange, onShow, onMerge } = props;
  const path = pathTo(content.messages, branch.head);
  const last = path.at(-1);
  const isCurrent = branch.name === content.branch;
  const items = [
    { label: `Merge into “${content.branch}”`, run: () => onMerge(branch.name), isDisabled: !canChange },
    { label: 'Close', run: () => void closeBranch(id, branch.name), isDisabled: !canChange || isClosed },
  ];
  return (
    <li className="branch" aria-current={isCurrent ? 'true' : undefined}>
      <button
        type="button"
        className="branch-name"
        disabled={isCurrent}
        onClick={() => onShow(branch.name)}
      >
        <i className={isCurrent ? 'station current' : 'station'} aria-hidden="true" />
        <span>
          {branch.name}
          <small>
            {plural(path.length, 'message')}
            {last?.at === undefined ? '' : ` · ${formatWhen(last.at, now)}`}
            {branch.mergedInto === null ? '' : ` · merged into ${branch.mergedInto}`}
          </small>
        </span>
      </button>
      {isCurrent ? (
        <span className="note">shown</span>
      ) : (
        <Menu label={`Actions of branch ${branch.name}`} items={items}>
          ⋯
        </Menu>
      )}
    </li>
  );
}

/** What the tools of a chat may do without a question. */
function Permissions({ page, content }: { page: OpenedThread; content: ChatContent }) {
  const { consent } = content.config;
  if (!consent) return null;
  const grants = grantsOf(content);
  return (
    <>
      <h3>
        Permissions <span className="mono">{consent.mode ?? 'ask'}</span>
      </h3>
      {grants.length === 0 && page.permissions.length === 0 ? <p className="note">Nothing is allowed beyond single calls.</p> : null}
      <StandingPermissions page={page} overrides={grants} />
    </>
  );
}

/** The branches, permissions and checkpoints of a chat. */
export function BranchPanel(props: Props) {
  const { id, content, canChange, onClose } = props;
  const now = useNow(true, 30_000);
  const closed = Object.values(content.closed);
  const checkpoints = Object.values(content.checkpoints);
  return (
    <aside className="panel" aria-label="Branches">
      <header className="panel-head">
        <h2>Branches</h2>
        <button type="button" className="quiet" aria-label="Close branches" onClick={onClose}>
          ✕
        </button>
      </header>
      <ul className="branches">
        {Object.values(content.branches).map((branch) => (
          <BranchRow key={branch.name} {...props} branch={branch} isClosed={false} now={now} />
        ))}
      </ul>
      {closed.length === 0 ? null : <h3>Merged or closed</h3>}
      <ul className="branches">
        {closed.map((branch) => (
          <BranchRow key={branch.name} {...props} branch={branch} isClosed now={now} />
        ))}
      </ul>
      <Permissions page={props.page} content={content} />
      <h3>Checkpoints</h3>
      {checkpoints.length === 0 ? <p className="note">A checkpoint marks a place to go back to.</p> : null}
      <ul className="branches">
        {checkpoints.map((checkpoint) => (
          <li key={checkpoint.id} className="branch">
            <span className="checkpoint-name">
              <span aria-hidden="true">⚑</span> {checkpoint.name ?? shortTextOf(content, checkpoint.head)}
              <small>
                {checkpoint.branch} · turn {checkpoint.turn}
              </small>
            </span>
            <button
              type="button"
              className="quiet"
              disabled={!canChange}
              onClick={() => void rewindToCheckpoint(id, checkpoint.id)}
            >
              Go back
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
}
