import { useState } from 'react';
import { Dialog } from '../parts/Dialog';
import { addCheckpoint } from './actions';

export function CheckpointDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [name, setName] = useState('');
  return (
    <Dialog title="Add a checkpoint" onClose={onClose}>
      <form className="form" onSubmit={(event) => (event.preventDefault(), void addCheckpoint(id, name).then(onClose))}>
        <label className="label">
          Name
          <input className="field" value={name} data-focus onChange={(event) => setName(event.target.value)} />
          <small>Marks where this branch stands. The branch can go back to it at any time; nothing is deleted.</small>
        </label>
        <div>
          <button type="submit" className="primary">
            Add
          </button>
        </div>
      </form>
    </Dialog>
  );
}
