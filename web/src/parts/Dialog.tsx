import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** The buttons below the content. */
  actions?: ReactNode;
  width?: 'narrow' | 'wide';
}

/** A modal dialog; Escape and a click beside it close it. What has `data-focus` is focused when it opens. */
export function Dialog({ title, onClose, children, actions, width = 'narrow' }: Props) {
  const place = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = place.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    dialog?.querySelector<HTMLElement>('[data-focus]')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={place}
      className={`dialog ${width}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === place.current) onClose();
      }}
    >
      <div className="dialog-box">
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="quiet" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        </header>
        <div className="dialog-body">{children}</div>
        {actions === undefined ? null : <footer className="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}
