import { memo, useEffect, useRef, useState, type FormEvent } from 'react';
import { formatUsd, formatWhen } from '../parts/format';
import { Lamp, lampOf } from '../parts/Lamp';
import { Link } from '../parts/Link';
import { Menu } from '../parts/Menu';
import { pathOf } from '../route';
import type { ThreadRow } from '../wire/types';
import { archiveThread, deleteThread, exportItems, renameThread } from './actions';
import { togglePin } from './marks';

interface Props {
  row: ThreadRow;
  isOpen: boolean;
  isPinned: boolean;
  isUnread: boolean;
  now: number;
}

const WAITING: Record<string, string> = {
  permission: 'permission',
  question: 'question',
  limit: 'limit reached',
  plan: 'plan to approve',
};

function detailOf(row: ThreadRow): string {
  const parts = [row.kind === 'chat' ? '' : row.kind];
  if (row.status === 'waiting') parts.push(WAITING[row.waiting ?? ''] ?? row.waiting ?? 'waiting');
  else if (row.status !== 'completed') parts.push(row.status);
  if (row.error && row.status === 'failed') parts.push(row.error);
  else if (row.costUsd > 0) parts.push(formatUsd(row.costUsd));
  else if (row.status === 'completed') parts.push(`${row.turns} turn${row.turns === 1 ? '' : 's'}`);
  return parts.filter(Boolean).join(' · ');
}

function RenameField({ row, onDone }: { row: ThreadRow; onDone: () => void }) {
  const [title, setTitle] = useState(row.title);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (title !== row.title) void renameThread(row.id, title);
    onDone();
  };
  return (
    <form className="thread-rename" onSubmit={submit}>
      <input
        className="field"
        aria-label="Title"
        value={title}
        maxLength={500}
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={submit}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone();
        }}
      />
    </form>
  );
}

/** A thread of the list. */
export const ThreadItem = memo(function ThreadItem({ row, isOpen, isPinned, isUnread, now }: Props) {
  const [isRenaming, setRenaming] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const mustFocus = useRef(false);
  useEffect(() => {
    if (mustFocus.current && !isRenaming) item.current?.querySelector('a')?.focus();
    mustFocus.current = false;
  }, [isRenaming]);
  // The keyboard goes on where it was, unless something else has the focus by now.
  const endRename = () => {
    mustFocus.current = document.activeElement?.closest('.thread-rename') !== null;
    setRenaming(false);
  };
  if (isRenaming)
    return (
      <li>
        <RenameField row={row} onDone={endRename} />
      </li>
    );
  const title = row.title || 'Untitled';
  const items = [
    { label: 'Rename', run: () => setRenaming(true) },
    { label: isPinned ? 'Unpin' : 'Pin', run: () => togglePin(row.id) },
    {
      label: row.archived ? 'Take out of the archive' : 'Archive',
      run: () => void archiveThread(row, !row.archived),
    },
    ...exportItems(row),
    { label: 'Delete', isDangerous: true, run: () => deleteThread(row) },
  ];
  return (
    <li ref={item} className={isUnread && !isOpen ? 'thread unread' : 'thread'} data-status={row.status}>
      <Link to={pathOf(row)} aria-current={isOpen ? 'page' : undefined}>
        <Lamp state={lampOf(row.status)} label={row.status} />
        <span className="thread-title">{title}</span>
        <time dateTime={new Date(row.updated).toISOString()}>{formatWhen(row.updated, now)}</time>
        <small>{row.line ?? detailOf(row)}</small>
        {isUnread && !isOpen ? <span className="hidden-text">unread</span> : null}
      </Link>
      <Menu label={`Actions of ${title}`} items={items}>
        ⋯
      </Menu>
    </li>
  );
});
