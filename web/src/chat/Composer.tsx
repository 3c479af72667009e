import {
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type ClipboardEvent,
  type KeyboardEvent,
  type Ref,
} from 'react';
import { keptInTab } from '../parts/storage';
import { showHidden } from '../parts/visible';
import { notifyError } from '../parts/Toasts';
import { attach, MOST_CHARACTERS, sizeOf, type Attachment } from './attachments';
import type { Part } from './content';

export interface ComposerHandle {
  focus: () => void;
  attach: (files: Iterable<File>) => void;
}

interface Props {
  /** Names the draft, which is kept when the page is left. */
  draftName: string;
  placeholder: string;
  isRunning: boolean;
  canSend: boolean;
  onSend: (parts: readonly Part[]) => Promise<boolean>;
  onStop?: () => void;
  onEditLast?: () => void;
  ref?: Ref<ComposerHandle>;
}

function useDraft(name: string) {
  const key = `antiphon.draft.${name}`;
  const [draft, setDraft] = useState(() => keptInTab.getItem(key) ?? '');
  useEffect(() => {
    // A draft for which there is no room is not kept, and an earlier one is not shown in its place.
    if (draft === '' || !keptInTab.setItem(key, draft)) keptInTab.removeItem(key);
  }, [key, draft]);
  // The page may be left before the next render.
  const clear = () => {
    keptInTab.removeItem(key);
    setDraft('');
  };
  return { draft, setDraft, clearDraft: clear };
}

/** Files of drafts, by the names of the drafts: they are kept until the page is reloaded. */
const keptFiles = new Map<string, readonly Attachment[]>();

function useAttachments(name: string) {
  const [files, setFiles] = useState<readonly Attachment[]>(() => keptFiles.get(name) ?? []);
  // Several files are read at the same time.
  const latest = useRef(files);
  latest.current = files;
  useEffect(() => {
    if (files.length === 0) keptFiles.delete(name);
    else keptFiles.set(name, files);
  }, [name, files]);
  const add = (list: Iterable<File>) => {
    for (const file of list)
      attach(file).then((item) => {
        const all = [...latest.current, item];
        if (sizeOf(all) > MOST_CHARACTERS) return notifyError(new Error(`${item.name} is too much: all files of a message may have 6 MB`));
        latest.current = all;
        return setFiles(all);
      }, notifyError);
  };
  const drop = (id: string) => setFiles((old) => old.filter((item) => item.id !== id));
  return { files, add, drop, clear: () => setFiles([]) };
}

function Files({ files, onDrop }: { files: readonly Attachment[]; onDrop: (id: string) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className="files" aria-label="Attached files">
      {files.map((file) => (
        <li key={file.id}>
          <span>{showHidden(file.name)}</span>
          <button type="button" className="quiet" aria-label={`Remove ${file.name}`} onClick={() => onDrop(file.id)}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The field for messages; while the thread runs, its button stops it. */
export function Composer({ draftName, placeholder, isRunning, canSend, onSend, onStop, onEditLast, ref }: Props) {
  const { draft, setDraft, clearDraft } = useDraft(draftName);
  const { files, add, drop, clear } = useAttachments(draftName);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => ({ focus: () => field.current?.focus(), attach: add }));
  const isEmpty = draft.trim() === '' && files.length === 0;
  const send = async () => {
    if (isEmpty || isBusy || !canSend) return;
    setBusy(true);
    const text: Part[] = draft.trim() === '' ? [] : [{ type: 'text', text: draft.trim() }];
    if (await onSend([...files.map((file) => file.part), ...text])) {
      clearDraft();
      clear();
    }
    setBusy(false);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends the composition of a character is not meant for the message.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === 'ArrowUp' && draft === '') {
      event.preventDefault();
      onEditLast?.();
    } else if (event.key === 'Escape') {
      if (isRunning) onStop?.();
      else field.current?.blur();
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    add(event.clipboardData.files);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => (event.preventDefault(), void send())}
    >
      <Files files={files} onDrop={drop} />
      <div className="composer-line">
        <button
          type="button"
          className="quiet"
          aria-label="Attach files"
          title="Attach files"
          onClick={() => picker.current?.click()}
        >
          +
        </button>
        <textarea
          ref={field}
          rows={1}
          aria-label="Message"
          placeholder={placeholder}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {isRunning ? (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        ) : null}
        {isRunning && isEmpty ? null : (
          <button type="submit" className="primary" disabled={isEmpty || isBusy || !canSend}>
            Send
          </button>
        )}
      </div>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => (add(event.target.files ?? []), (event.target.value = ''))}
      />
    </form>
  );
}
