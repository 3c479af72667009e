import { Component, type ReactNode } from 'react';
import { errorText } from '../wire/http';
import { ErrorCard } from './ErrorCard';

interface Props {
  /** A part of the page that failed is drawn again when this changes. */
  place: string;
  children: ReactNode;
}

interface State {
  place: string;
  error: unknown;
}

/** A part of the page; an error while it is drawn leaves the rest of the page as it is. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { place: this.props.place, error: null };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    return props.place === state.place ? null : { place: props.place, error: null };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className="screen-body">
        <ErrorCard
          title="This page cannot be drawn"
          message={`${errorText(error)}. Threads are not harmed: they are on the server.`}
          actions={
            <button type="button" onClick={() => location.reload()}>
              Reload the page
            </button>
          }
        />
      </div>
    );
  }
}
