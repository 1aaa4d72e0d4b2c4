
resource "aws_ecs_task_definition" "w" {
  family = "ray-worker"
  requires_compatibilities = ["EC2"]
  network_mode = "awsvpc"
  task_role_arn = "arn:aws:iam::111122223333:role/t"
  execution_role_arn = "arn:aws:iam::111122223333:role/e"
  container_definitions = jsonencode([
    { name = "w", image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/ray:2.9.0", memory = 100000, essential = true,
      command = ["ray", "start", "--address=head.ray.local:6379", "--block", "--num-gpus=1"],
      linuxParameters = { sharedMemorySize = 16384 },
      resourceRequirements = [{ type = "GPU", value = "1" }] }
  ])
}
resource "aws_ecs_service" "w" {
  name = "w"
  cluster = "c"
  task_definition = aws_ecs_task_definition.w.arn
  desired_count = 4
  capacity_provider_strategy {
    capacity_provider = "g5"
    weight = 1
  }
  network_configuration { subnets = ["subnet-1"] }
}
