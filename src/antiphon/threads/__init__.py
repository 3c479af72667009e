"""What chats, runs and debates have in common: threads, their statuses, replies, tools and exports."""
