"""The machines that every thread is made of, pure: thread, reply, tools and permission."""
